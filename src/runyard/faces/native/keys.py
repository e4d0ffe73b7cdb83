"""The routes that create, list and revoke API keys. For operators: they see the keys of all owners."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from runyard.domain.api_key import ApiKey
from runyard.faces.native import rows, wire
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

Limit = Annotated[int, Query(ge=1, le=200)]

router = Router("keys")


@router.post("/api/keys", status_code=201, response_model=wire.KeyMade)
async def create_key(engine: EngineDep, body: wire.NewKey) -> Response:
    """Create an API key; only this response contains the key itself."""
    made, key = await engine.access.create(body.owner, body.label, body.scopes, body.expires_in)
    response = Json(wire.KeyMade(**vars(_row(made)), key=key), 201)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("/api/keys", response_model=wire.KeyPage)
async def list_keys(
    engine: EngineDep, owner: str | None = None, before: str | None = None, limit: Limit = 50
) -> Response:
    """List API keys, newest first."""
    page = await engine.access.list_keys(owner, before, limit)
    return Json(wire.KeyPage(keys=[_row(key) for key in page], next=page[-1].id if len(page) == limit else None))


@router.delete("/api/keys/{key_id}", response_model=wire.KeyRow)
async def revoke_key(engine: EngineDep, key_id: str) -> Response:
    """Revoke an API key permanently; it stays in the list."""
    return Json(_row(await engine.access.revoke(key_id)))


def _row(key: ApiKey) -> wire.KeyRow:
    return wire.KeyRow(**rows.key_fields(key))
