"""A thread: a lasting conversation. Runs come and go in it; agents never write to it."""

from typing import Literal

from msgspec import Struct

ThreadKind = Literal["chat", "channel", "dm"]
Role = Literal["user", "assistant"]


class Thread(Struct, frozen=True, kw_only=True):
    id: str
    owner: str
    kind: ThreadKind = "chat"
    external_id: str | None = None
    user_id: str | None = None
    agent: str | None = None
    head_run_id: str | None = None
    created_at: int
    forked_from: str | None = None


class Message(Struct, frozen=True, kw_only=True):
    """Something said in a thread. `run_id` is the run it started, or the run that said it."""

    id: str
    thread_id: str
    role: Role
    text: str
    run_id: str | None = None
    sources: list[str] = []
    created_at: int
