"""The routes of messages and reactions."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from runyard.domain.conversations.thread import Conversation, Message, Reaction, ThreadKind
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.queries.views import checked_cursor
from runyard.errors import BadRequest
from runyard.faces.channels import translate, wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json, Key
from runyard.web.routing import Router

Limit = Annotated[int, Query(ge=1, le=100)]

router = Router("channels")


@router.post("/api/messages", status_code=201, response_model=wire.MessageSeen)
async def post_message(engine: EngineDep, owner: Owner, body: wire.NewMessage, key: Key = None) -> Response:
    """Post a message; agents that it wakes answer later."""
    conversations, place = engine.conversations, _one_place(body.channelId, body.dmConversationId)
    here = await conversations.get(owner, place, "dm" if body.channelId is None else "channel")
    note = idempotency_key(owner, "POST /api/messages", key, body.model_dump())
    posted = await conversations.post(
        owner, here.thread, body.text, user_id=body.userId, parent_id=body.parentMessageId, key=note
    )
    return Json(_message(posted.message, posted.thread.kind, ()), 201)


@router.get("/api/messages", response_model=wire.MessagePage)
async def list_messages(
    engine: EngineDep,
    owner: Owner,
    channelId: str | None = None,  # noqa: N803
    dmConversationId: str | None = None,  # noqa: N803
    parentMessageId: str | None = None,  # noqa: N803
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """List the newest messages of a conversation, oldest first."""
    conversations, place = engine.conversations, _one_place(channelId, dmConversationId)
    here, page = await conversations.messages(owner, place, checked_cursor(before), limit, parentMessageId)
    reactions = await conversations.reactions(page)
    shown = [_message(each, here.thread.kind, reactions.get(each.id, ())) for each in page]
    return Json(wire.MessagePage(messages=shown, next=page[0].id if len(page) == limit else None))


@router.get("/api/messages/{message_id}", response_model=wire.MessageSeen)
async def get_message(engine: EngineDep, owner: Owner, message_id: str) -> Response:
    """Get a message."""
    return Json(await _with_reactions(engine, *await engine.conversations.message(owner, message_id)))


@router.patch("/api/messages/{message_id}", response_model=wire.MessageSeen)
async def change_message(engine: EngineDep, owner: Owner, message_id: str, body: wire.MessageChange) -> Response:
    """Change the text of a message."""
    return Json(await _with_reactions(engine, *await engine.conversations.edit_message(owner, message_id, body.text)))


@router.delete("/api/messages/{message_id}", status_code=204)
async def delete_message(engine: EngineDep, owner: Owner, message_id: str) -> Response:
    """Delete a message; its replies stay."""
    await engine.conversations.delete_message(owner, message_id)
    return Response(status_code=204)


@router.post("/api/messages/{message_id}/reactions", status_code=201, response_model=wire.ReactionMade)
async def react(engine: EngineDep, owner: Owner, message_id: str, body: wire.NewReaction) -> Response:
    """React to a message."""
    await engine.conversations.react(owner, message_id, body.emoji, body.userId)
    return Json(wire.ReactionMade(), 201)


@router.delete("/api/messages/{message_id}/reactions/{emoji}", status_code=204)
async def take_back(engine: EngineDep, owner: Owner, message_id: str, emoji: wire.Emoji) -> Response:
    """Remove a reaction."""
    await engine.conversations.remove_reaction(owner, message_id, emoji)
    return Response(status_code=204)


def _one_place(channel_id: str | None, dm_id: str | None) -> str:
    if (channel_id is None) == (dm_id is None):
        raise BadRequest("Give exactly one of channelId and dmConversationId.")
    return channel_id or dm_id or ""


async def _with_reactions(engine: Engine, here: Conversation, message: Message) -> wire.MessageSeen:
    reactions = await engine.conversations.reactions([message])
    return _message(message, here.thread.kind, reactions.get(message.id, ()))


def _message(message: Message, kind: ThreadKind, reactions: Sequence[Reaction]) -> wire.MessageSeen:
    seen = [wire.ReactionSeen(emoji=r.emoji, userId=r.sender, isAgent=r.role == "assistant") for r in reactions]
    return wire.MessageSeen(**translate.message(message, kind), reactions=seen)
