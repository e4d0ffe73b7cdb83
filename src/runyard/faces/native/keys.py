"""The routes that make, list and revoke API keys: for operators, over the keys of all owners."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from runyard.domain.api_key import ApiKey
from runyard.engine.engine import Engine
from runyard.faces.native import wire
from runyard.web.responses import Json, iso

TAG = "keys"
Limit = Annotated[int, Query(ge=1, le=200)]


def add_routes(router: APIRouter, engine: Engine) -> None:
    @router.post(
        "/api/keys",
        status_code=201,
        response_model=wire.KeyMade,
        tags=[TAG],
        summary="Make an API key; the key itself is in this answer and nowhere else",
    )
    async def create_key(body: wire.NewKey) -> Response:
        made, key = await engine.access.create(body.owner, body.label, body.scopes, body.expires_in)
        answer = Json(wire.KeyMade(**vars(_row(made)), key=key), 201)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @router.get("/api/keys", response_model=wire.KeyPage, tags=[TAG], summary="API keys, newest first")
    async def list_keys(owner: str | None = None, before: str | None = None, limit: Limit = 50) -> Response:
        page = await engine.access.keys(owner, before, limit)
        return Json(wire.KeyPage(keys=[_row(key) for key in page], next=page[-1].id if len(page) == limit else None))

    @router.delete(
        "/api/keys/{key_id}",
        response_model=wire.KeyRow,
        tags=[TAG],
        summary="Revoke an API key, for good; it stays in the list",
    )
    async def revoke_key(key_id: str) -> Response:
        return Json(_row(await engine.access.revoke(key_id)))


def _row(key: ApiKey) -> wire.KeyRow:
    return wire.KeyRow(
        key_id=key.id,
        owner=key.owner,
        label=key.label,
        scopes=sorted(key.scopes),
        created_at=iso(key.created_at) or "",
        expires_at=iso(key.expires_at),
        last_used_at=iso(key.last_used_at),
        revoked_at=iso(key.revoked_at),
    )
