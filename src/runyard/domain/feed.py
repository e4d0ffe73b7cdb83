"""The feed: what happened in conversations, in one order for everybody who watches them.

An entry is written with its cause and numbered afterwards, so that numbers become visible in order: who has seen n has
seen all that they may see before it.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from runyard.domain.thread import Message, Role, ThreadKind

Kind = Literal["message_created", "reaction_added", "agent_typing", "agent_done"]


class Entry(Struct, frozen=True, kw_only=True):
    """`actor` said `message`, reacted to `message_id` with `emoji`, or is at work on `run_id`, which it started."""

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
    """A piece of the feed: what its reader may see of it, and how far it goes."""

    entries: Sequence[Entry]
    upto: int
