"""The routes of the channels face: conversations, messages and their stream. `agents.py` has those of agents."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.recipients import Party
from runyard.domain.thread import Change, Conversation, Message, Reaction
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import idempotency_key
from runyard.engine.queries.views import position
from runyard.errors import BadRequest
from runyard.faces.channels import agents, records, translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.responses import Json, Key
from runyard.web.routing import STREAM_PARAMETERS, Events, add_fast
from runyard.web.sse import LiveStream, asked_start

FACE = "channels"
Limit = Annotated[int, Query(ge=1, le=100)]
MemberKind = Literal["user", "agent"]


def add_routes(router: APIRouter, engine: Engine, heartbeat: float) -> None:
    _add_stream(router, engine, heartbeat)
    _add_channels(router, engine)
    _add_dms(router, engine)
    _add_messages(router, engine)
    agents.add_routes(router, engine, FACE)
    records.add_routes(router, engine, FACE)


def _add_stream(router: APIRouter, engine: Engine, heartbeat: float) -> None:
    async def watch(request: Request) -> Response:
        asked, caller = asked_start(request), await owner_of(request)
        after = await engine.feed.start(asked)
        return LiveStream(lambda: engine.feed.follow(caller, after), translate.frame, heartbeat)

    async def documented() -> None: ...

    add_fast(
        router,
        "GET",
        "/api/sse",
        watch,
        tag=FACE,
        summary="Follow what happens in all conversations that you see",
        documented=documented,
        answers=Events,
        parameters=STREAM_PARAMETERS,
    )


def _add_channels(router: APIRouter, engine: Engine) -> None:
    office = engine.conversations

    @router.post(
        "/api/channels", status_code=201, response_model=wire.ChannelSeen, tags=[FACE], summary="Open a channel"
    )
    async def open_channel(owner: Owner, body: wire.NewChannel, key: Key = None) -> Response:
        members = [*(Party(each) for each in body.agents), *(Party(each, "user") for each in body.users)]
        note = idempotency_key(owner, "POST /api/channels", key, body.model_dump())
        here = await office.open_channel(owner, body.name, body.topic, body.kind == "private", members, note)
        return Json(_channel(here), 201)

    @router.get("/api/channels", response_model=wire.ChannelPage, tags=[FACE], summary="Channels that you see")
    async def list_channels(owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
        page = await office.page(owner, "channel", position(before), limit)
        return Json(wire.ChannelPage(channels=[_channel(here) for here in page], next=_next(page, limit)))

    @router.get("/api/channels/{channel_id}", response_model=wire.ChannelSeen, tags=[FACE], summary="A channel")
    async def get_channel(owner: Owner, channel_id: str) -> Response:
        return Json(_channel(await office.get(owner, channel_id, "channel")))

    @router.patch(
        "/api/channels/{channel_id}", response_model=wire.ChannelSeen, tags=[FACE], summary="Change a channel of yours"
    )
    async def change_channel(owner: Owner, channel_id: str, body: wire.ChannelChange) -> Response:
        private = None if body.kind is None else body.kind == "private"
        change = Change(name=body.name, topic=body.topic, is_private=private)
        return Json(_channel(await office.change(owner, channel_id, change)))

    @router.delete(
        "/api/channels/{channel_id}", status_code=204, tags=[FACE], summary="Delete a channel with all that is in it"
    )
    async def delete_channel(owner: Owner, channel_id: str) -> Response:
        await office.delete(owner, channel_id, "channel")
        return Response(status_code=204)

    @router.put(
        "/api/channels/{channel_id}/members/{kind}/{member_id}",
        response_model=wire.ChannelSeen,
        tags=[FACE],
        summary="Put somebody into a channel of yours",
    )
    async def add_member(owner: Owner, channel_id: str, kind: MemberKind, member_id: wire.Id) -> Response:
        return Json(_channel(await office.add(owner, channel_id, Party(member_id, kind))))

    @router.delete(
        "/api/channels/{channel_id}/members/{kind}/{member_id}",
        response_model=wire.ChannelSeen,
        tags=[FACE],
        summary="Take somebody out of a channel of yours",
    )
    async def remove_member(owner: Owner, channel_id: str, kind: MemberKind, member_id: wire.Id) -> Response:
        return Json(_channel(await office.remove(owner, channel_id, Party(member_id, kind))))


def _add_dms(router: APIRouter, engine: Engine) -> None:
    office = engine.conversations

    @router.post(
        "/api/dms",
        status_code=201,
        response_model=wire.DmSeen,
        tags=[FACE],
        summary="The DM of two, made if there is none",
    )
    async def open_dm(owner: Owner, body: wire.NewDm) -> Response:
        if body.otherAgentId is not None and body.userId is not None:
            raise BadRequest("Give otherAgentId or userId, not both.")
        return Json(_dm(await office.open_dm(owner, body.agentId, body.otherAgentId, body.userId)), 201)

    @router.get("/api/dms", response_model=wire.DmPage, tags=[FACE], summary="DMs that you see")
    async def list_dms(owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
        page = await office.page(owner, "dm", position(before), limit)
        return Json(wire.DmPage(dms=[_dm(here) for here in page], next=_next(page, limit)))

    @router.get("/api/dms/{dm_id}", response_model=wire.DmSeen, tags=[FACE], summary="A DM")
    async def get_dm(owner: Owner, dm_id: str) -> Response:
        return Json(_dm(await office.get(owner, dm_id, "dm")))

    @router.delete("/api/dms/{dm_id}", status_code=204, tags=[FACE], summary="Delete a DM with all that is in it")
    async def delete_dm(owner: Owner, dm_id: str) -> Response:
        await office.delete(owner, dm_id, "dm")
        return Response(status_code=204)


def _add_messages(router: APIRouter, engine: Engine) -> None:
    office = engine.conversations

    @router.post(
        "/api/messages",
        status_code=201,
        response_model=wire.MessageSeen,
        tags=[FACE],
        summary="Say something; the agents that it wakes answer later",
    )
    async def post_message(owner: Owner, body: wire.NewMessage, key: Key = None) -> Response:
        place = _one_place(body.channelId, body.dmConversationId)
        here = await office.get(owner, place, "dm" if body.channelId is None else "channel")
        note = idempotency_key(owner, "POST /api/messages", key, body.model_dump())
        said = await office.post(
            owner, here.thread, body.text, user_id=body.userId, parent_id=body.parentMessageId, key=note
        )
        return Json(_message(said.message, said.thread.kind, ()), 201)

    @router.get(
        "/api/messages",
        response_model=wire.MessagePage,
        tags=[FACE],
        summary="The last messages of a conversation, oldest first",
    )
    async def list_messages(
        owner: Owner,
        channelId: str | None = None,  # noqa: N803
        dmConversationId: str | None = None,  # noqa: N803
        parentMessageId: str | None = None,  # noqa: N803
        before: str | None = None,
        limit: Limit = 50,
    ) -> Response:
        place = _one_place(channelId, dmConversationId)
        here, page = await office.messages(owner, place, position(before), limit, parentMessageId)
        reactions = await office.reactions(page)
        shown = [_message(each, here.thread.kind, reactions.get(each.id, ())) for each in page]
        return Json(wire.MessagePage(messages=shown, next=page[0].id if len(page) == limit else None))

    @router.get("/api/messages/{message_id}", response_model=wire.MessageSeen, tags=[FACE], summary="A message")
    async def get_message(owner: Owner, message_id: str) -> Response:
        return Json(await _shown(*await office.message(owner, message_id)))

    @router.patch(
        "/api/messages/{message_id}", response_model=wire.MessageSeen, tags=[FACE], summary="Change its words"
    )
    async def change_message(owner: Owner, message_id: str, body: wire.MessageChange) -> Response:
        return Json(await _shown(*await office.reword(owner, message_id, body.text)))

    @router.delete(
        "/api/messages/{message_id}", status_code=204, tags=[FACE], summary="Delete a message with its replies"
    )
    async def delete_message(owner: Owner, message_id: str) -> Response:
        await office.unsay(owner, message_id)
        return Response(status_code=204)

    @router.post(
        "/api/messages/{message_id}/reactions",
        status_code=201,
        response_model=wire.ReactionMade,
        tags=[FACE],
        summary="React to a message",
    )
    async def react(owner: Owner, message_id: str, body: wire.NewReaction) -> Response:
        await office.react(owner, message_id, body.emoji, body.userId)
        return Json(wire.ReactionMade(), 201)

    @router.delete(
        "/api/messages/{message_id}/reactions/{emoji}", status_code=204, tags=[FACE], summary="Take a reaction back"
    )
    async def take_back(owner: Owner, message_id: str, emoji: wire.Emoji) -> Response:
        await office.take_back(owner, message_id, emoji)
        return Response(status_code=204)

    async def _shown(here: Conversation, message: Message) -> wire.MessageSeen:
        reactions = await office.reactions([message])
        return _message(message, here.thread.kind, reactions.get(message.id, ()))


def _one_place(channel_id: str | None, dm_id: str | None) -> str:
    if (channel_id is None) == (dm_id is None):
        raise BadRequest("Give exactly one of channelId and dmConversationId.")
    return channel_id or dm_id or ""


def _channel(here: Conversation) -> wire.ChannelSeen:
    thread = here.thread
    return wire.ChannelSeen(
        id=thread.id,
        name=thread.name or "",
        kind="private" if thread.is_private else "public",
        topic=thread.topic,
        members=_members(here),
        createdAt=translate.iso(thread.created_at),
    )


def _dm(here: Conversation) -> wire.DmSeen:
    created = translate.iso(here.thread.created_at)
    return wire.DmSeen(id=here.thread.id, participants=_members(here), createdAt=created)


def _members(here: Conversation) -> list[wire.MemberSeen]:
    return [wire.MemberSeen(id=party.id, kind=party.kind) for party in here.members]


def _message(
    message: Message, kind: Literal["chat", "channel", "dm"], reactions: Sequence[Reaction]
) -> wire.MessageSeen:
    seen = [wire.ReactionSeen(emoji=r.emoji, userId=r.sender, isAgent=r.role == "assistant") for r in reactions]
    return wire.MessageSeen(**translate.message(message, kind), reactions=seen)


def _next(page: Sequence[Conversation], limit: int) -> str | None:
    return page[-1].thread.id if len(page) == limit else None
