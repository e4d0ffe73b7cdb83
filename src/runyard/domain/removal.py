"""Records of deleted runs and threads. They hold no content."""

from msgspec import Struct


class Tombstone(Struct, frozen=True, kw_only=True):
    """The end of a run that retention deleted. It is stored for a limited time."""

    id: str
    agent: str
    status: str
    stop_reason: str | None
    error_code: str | None
    last_seq: int
    created_at: int
    finished_at: int
    dropped_at: int


class Removal(Struct, frozen=True):
    """A deleted thread, or a deleted run without one. `chat` is the name of the thread in the chats face."""

    id: str
    owner: str
    chat: str | None
    removed_at: int
