"""Translates entries of the feed to the frames of the channels face. Pure: needs only the entries."""

from datetime import UTC, datetime
from typing import Any, assert_never

import msgspec

from runyard.domain.conversations.feed import Entry
from runyard.domain.conversations.thread import Message, ThreadKind
from runyard.faces.channels.wire import EventName

_encode = msgspec.json.Encoder().encode


def frame(entry: Entry) -> bytes:
    match entry.kind:
        case "message_created":
            assert entry.message is not None
            return _frame(entry, "message_created", message(entry.message, entry.thread_kind))
        case "reaction_added":
            where = place(entry.thread_id, entry.thread_kind)
            by = {"userId": entry.actor, "isAgent": entry.role == "assistant"}
            return _frame(entry, "reaction_added", {"messageId": entry.message_id, "emoji": entry.emoji, **by, **where})
        case "agent_typing" | "agent_done":
            where = place(entry.thread_id, entry.thread_kind)
            return _frame(entry, entry.kind, {"agentId": entry.actor, "runId": entry.run_id, **where})
        case _:
            assert_never(entry.kind)


def message(posted: Message, kind: ThreadKind) -> dict[str, Any]:
    """Return a message as responses and events show it."""
    return {
        "id": posted.id,
        **place(posted.thread_id, kind),
        "parentMessageId": posted.parent_id,
        "userId": posted.sender,
        "isAgent": posted.role == "assistant",
        "text": posted.text,
        "createdAt": iso(posted.created_at),
    }


def place(thread_id: str, kind: ThreadKind) -> dict[str, str | None]:
    return {
        "channelId": thread_id if kind == "channel" else None,
        "dmConversationId": thread_id if kind == "dm" else None,
    }


def iso(ms: int) -> str:
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def _frame(entry: Entry, name: EventName, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (entry.no, name.encode(), _encode(data))
