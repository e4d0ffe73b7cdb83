"""Translates entries of the feed to the frames of the channels face. Pure: needs only the entries."""

from datetime import UTC, datetime
from typing import Any, assert_never

import msgspec

from runyard.domain.conversations.feed import Entry
from runyard.domain.conversations.thread import Message, ThreadKind
from runyard.faces.channels.wire import EventName

_encode = msgspec.json.Encoder().encode


def frame(entry: Entry) -> bytes:
    where = place(entry.thread_id, entry.thread_kind)
    match entry.kind:
        case "message_created" | "message_updated" | "message_deleted":
            assert entry.message is not None
            return _frame(entry, message(entry.message, entry.thread_kind))
        case "reaction_added" | "reaction_removed":
            by = {"userId": entry.actor, "isAgent": entry.role == "assistant"}
            return _frame(entry, {"messageId": entry.message_id, "emoji": entry.emoji, **by, **where})
        case "agent_typing" | "agent_done":
            return _frame(entry, {"agentId": entry.actor, "runId": entry.run_id, **where})
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
        "runId": posted.run_id if posted.role == "assistant" else None,
        "editedAt": moment(posted.edited_at),
        "deletedAt": moment(posted.deleted_at),
    }


def place(thread_id: str, kind: ThreadKind) -> dict[str, str | None]:
    return {
        "channelId": thread_id if kind == "channel" else None,
        "dmConversationId": thread_id if kind == "dm" else None,
    }


def iso(ms: int) -> str:
    then = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{then:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def moment(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)


def _frame(entry: Entry, data: dict[str, Any]) -> bytes:
    name: EventName = entry.kind
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (entry.no, name.encode(), _encode(data))
