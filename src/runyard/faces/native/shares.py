"""The routes of links that show a conversation to readers without a key.

Readers send the token in a header: addresses end up in logs. The page has it in the fragment of its address, which
browsers do not send.
"""

from typing import Annotated, NamedTuple

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.conversations.thread import Share
from runyard.domain.times import iso
from runyard.errors import Conflict, NotFound
from runyard.faces.native import wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep, context_of
from runyard.web.responses import Json
from runyard.web.routing import Router

OFF = "Sharing is off on this server. Its operator can switch it on with RUNYARD_SHARE_LINKS=true."
PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
Token = Annotated[str, Header(alias="X-Share-Token", max_length=200, description="The token of the link.")]

router = Router("native")


class ShareOptions(NamedTuple):
    """Whether owners may make links, and readers may open them."""

    is_on: bool


@router.get("/api/threads/{thread_id}/shares", response_model=wire.SharePage)
async def list_shares(engine: EngineDep, owner: Owner, thread_id: str) -> Response:
    """List the links to a thread that are valid, newest first."""
    found = await engine.shares.list_all(owner, thread_id)
    return Json(wire.SharePage(shares=[_row(share) for share in found]))


@router.post("/api/threads/{thread_id}/shares", status_code=201, response_model=wire.ShareMade)
async def share(
    request: Request, engine: EngineDep, owner: Owner, thread_id: str, body: wire.NewShare | None = None
) -> Response:
    """Make a link that shows the messages of a thread to readers without a key, as they are now. A 409 if sharing is
    off. Only this response has the token."""
    thread = await engine.views.thread(owner, thread_id)
    if not _is_on(request):
        raise Conflict(OFF)
    made, token = await engine.shares.create(owner, thread.id, (body or wire.NewShare()).days)
    return Json(wire.ShareMade(share_id=made.id, token=token, path=f"/#/shared/{token}", **_times(made)), 201)


@router.delete("/api/threads/{thread_id}/shares/{share_id}", status_code=204)
async def revoke(engine: EngineDep, owner: Owner, thread_id: str, share_id: str) -> Response:
    """Revoke a link to a thread."""
    await engine.shares.revoke(owner, thread_id, share_id)
    return Response(status_code=204)


@router.get("/api/shared", response_model=wire.SharedThread, responses={404: {}, 429: {}})
async def read_shared(request: Request, engine: EngineDep, token: Token = "") -> Response:
    """Read the conversation behind a link. A 404 for a link that is unknown, revoked or expired."""
    if not _is_on(request):
        raise NotFound("There is no such link, or it has expired.")
    return Json(await engine.shares.read(token), headers=PRIVATE)


def _is_on(request: Request) -> bool:
    return context_of(request).options(ShareOptions).is_on


def _row(share: Share) -> wire.ShareRow:
    return wire.ShareRow(share_id=share.id, **_times(share))


def _times(share: Share) -> dict[str, str]:
    return {"created_at": iso(share.created_at) or "", "expires_at": iso(share.expires_at) or ""}
