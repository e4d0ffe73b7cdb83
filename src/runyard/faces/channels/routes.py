"""The routes of the channels face: the stream, channels and DMs here; messages, agents, their memory and their history
in the modules beside this one."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import Change, Conversation
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.queries.views import checked_cursor
from runyard.errors import BadRequest
from runyard.faces.channels import activity, agent_history, agents, memory, messages, translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.context import EngineDep, context_of
from runyard.web.responses import Json, Key
from runyard.web.routing import Router
from runyard.web.streaming.sse import LiveStream, requested_start

Limit = Annotated[int, Query(ge=1, le=100)]
MemberKind = Literal["user", "agent"]

router = Router("channels")


@router.fast("GET", "/api/sse", is_stream=True, statuses=(410,))
async def watch(request: Request) -> Response:
    """Follow messages, reactions and agents in all conversations that the caller sees."""
    context, asked, caller = context_of(request), requested_start(request), await owner_of(request)
    feed = context.engine.feed
    after = await feed.start(asked)
    return LiveStream(lambda: feed.follow(caller, after), translate.frame, context.heartbeat)


@router.post("/api/channels", status_code=201, response_model=wire.ChannelSeen)
async def open_channel(engine: EngineDep, owner: Owner, body: wire.NewChannel, key: Key = None) -> Response:
    """Create a channel."""
    members = [*(Participant(each) for each in body.agents), *(Participant(each, "user") for each in body.users)]
    note = idempotency_key(owner, "POST /api/channels", key, body.model_dump())
    is_private = body.kind == "private"
    here = await engine.conversations.open_channel(owner, body.name, body.topic, is_private, members, note)
    return Json(_channel(here), 201)


@router.get("/api/channels", response_model=wire.ChannelPage)
async def list_channels(engine: EngineDep, owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
    """List the channels that the caller sees."""
    page = await engine.conversations.page(owner, "channel", checked_cursor(before), limit)
    return Json(wire.ChannelPage(channels=[_channel(here) for here in page], next=_next(page, limit)))


@router.get("/api/channels/{channel_id}", response_model=wire.ChannelSeen)
async def get_channel(engine: EngineDep, owner: Owner, channel_id: str) -> Response:
    """Get a channel."""
    return Json(_channel(await engine.conversations.get(owner, channel_id, "channel")))


@router.patch("/api/channels/{channel_id}", response_model=wire.ChannelSeen)
async def change_channel(engine: EngineDep, owner: Owner, channel_id: str, body: wire.ChannelChange) -> Response:
    """Change the name, the topic or the kind of a channel that the caller owns."""
    private = None if body.kind is None else body.kind == "private"
    change = Change(name=body.name, topic=body.topic, is_private=private)
    return Json(_channel(await engine.conversations.change(owner, channel_id, change)))


@router.delete("/api/channels/{channel_id}", status_code=204)
async def delete_channel(engine: EngineDep, owner: Owner, channel_id: str) -> Response:
    """Delete a channel with its messages and runs."""
    await engine.conversations.delete(owner, channel_id, "channel")
    return Response(status_code=204)


@router.put("/api/channels/{channel_id}/members/{kind}/{member_id}", response_model=wire.ChannelSeen)
async def add_member(
    engine: EngineDep, owner: Owner, channel_id: str, kind: MemberKind, member_id: wire.Id
) -> Response:
    """Add a member to a channel that the caller owns."""
    return Json(_channel(await engine.conversations.add(owner, channel_id, Participant(member_id, kind))))


@router.delete("/api/channels/{channel_id}/members/{kind}/{member_id}", response_model=wire.ChannelSeen)
async def remove_member(
    engine: EngineDep, owner: Owner, channel_id: str, kind: MemberKind, member_id: wire.Id
) -> Response:
    """Remove a member from a channel that the caller owns."""
    return Json(_channel(await engine.conversations.remove(owner, channel_id, Participant(member_id, kind))))


@router.post("/api/dms", status_code=201, response_model=wire.DmSeen)
async def open_dm(engine: EngineDep, owner: Owner, body: wire.NewDm) -> Response:
    """Get the DM of two participants, or create it."""
    if body.otherAgentId is not None and body.userId is not None:
        raise BadRequest("Both otherAgentId and userId are given. Give one of them.")
    return Json(_dm(await engine.conversations.open_dm(owner, body.agentId, body.otherAgentId, body.userId)), 201)


@router.get("/api/dms", response_model=wire.DmPage)
async def list_dms(engine: EngineDep, owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
    """List the DMs that the caller sees."""
    page = await engine.conversations.page(owner, "dm", checked_cursor(before), limit)
    return Json(wire.DmPage(dms=[_dm(here) for here in page], next=_next(page, limit)))


@router.get("/api/dms/{dm_id}", response_model=wire.DmSeen)
async def get_dm(engine: EngineDep, owner: Owner, dm_id: str) -> Response:
    """Get a DM."""
    return Json(_dm(await engine.conversations.get(owner, dm_id, "dm")))


@router.delete("/api/dms/{dm_id}", status_code=204)
async def delete_dm(engine: EngineDep, owner: Owner, dm_id: str) -> Response:
    """Delete a DM with its messages and runs."""
    await engine.conversations.delete(owner, dm_id, "dm")
    return Response(status_code=204)


for _module in (messages, activity, agents, memory, agent_history):
    router.routes += _module.router.routes


def _channel(here: Conversation) -> wire.ChannelSeen:
    thread = here.thread
    return wire.ChannelSeen(
        id=thread.id,
        name=thread.name or "",
        kind="private" if thread.is_private else "public",
        topic=thread.topic,
        members=_members(here),
        createdAt=translate.iso(thread.created_at),
        ownerId=thread.owner,
    )


def _dm(here: Conversation) -> wire.DmSeen:
    created = translate.iso(here.thread.created_at)
    return wire.DmSeen(id=here.thread.id, participants=_members(here), createdAt=created)


def _members(here: Conversation) -> list[wire.MemberSeen]:
    return [wire.MemberSeen(id=party.id, kind=party.kind) for party in here.members]


def _next(page: Sequence[Conversation], limit: int) -> str | None:
    return page[-1].thread.id if len(page) == limit else None
