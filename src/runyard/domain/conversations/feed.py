"""The feed: messages, reactions and agent activity in conversations, in one order for all readers.

An entry is written in the transaction of its cause and numbered later, so that numbers become visible in order: a
reader that has seen n has seen every entry before it that it may see.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from runyard.domain.conversations.thread import Message, Role, ThreadKind

Kind = Literal[
    "message_created",
    "message_updated",
    "message_deleted",
    "reaction_added",
    "reaction_removed",
    "agent_typing",
    "agent_done",
]
OF_MESSAGES: frozenset[Kind] = frozenset({"message_created", "message_updated", "message_deleted"})


class Entry(Struct, frozen=True, kw_only=True):
    """An entry: `actor` posted, changed or deleted `message`, reacted to `message_id` with `emoji` or took it back, or
    started or ended `run_id`. `message` is as it is now."""

    no: int
    kind: Kind
    thread_id: str
    thread_kind: ThreadKind
    actor: str
    role: Role
    created_at: int
    message_id: str | None = None
    run_id: str | None = None
    emoji: str | None = None
    message: Message | None = None


class Window(Struct, frozen=True):
    """A range of the feed: the entries that its reader may see, and the last number of the range."""

    entries: Sequence[Entry]
    upto: int
