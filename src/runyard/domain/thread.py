"""A thread: a lasting conversation. Runs come and go in it; only what is said becomes a message."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from runyard.domain.recipients import Party

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
    name: str | None = None
    topic: str | None = None
    is_private: bool = False


class Message(Struct, frozen=True, kw_only=True):
    """Something said in a thread. `run_id` is the run it started, or the run that said it. In a channel or a DM there
    is a `sender`, a person or (role assistant) an agent, and it may reply to another message, `parent_id`."""

    id: str
    thread_id: str
    role: Role
    text: str
    run_id: str | None = None
    sources: list[str] = []
    created_at: int
    sender: str | None = None
    parent_id: str | None = None

    @property
    def party(self) -> Party:
        """Who said it."""
        return Party(self.sender or "", "user" if self.role == "user" else "agent")


class Conversation(Struct, frozen=True):
    """A channel or a DM, with who is in it, in the order they joined."""

    thread: Thread
    members: Sequence[Party]

    def is_seen_by(self, caller: str) -> bool:
        """Its owner and the people in it see it; everybody sees a public channel."""
        thread = self.thread
        is_open = thread.kind == "channel" and not thread.is_private
        return is_open or thread.owner == caller or Party(caller, "user") in self.members

    def may_speak(self, agent: str, owner: str) -> bool:
        """Whether an agent that works for this owner may say something here."""
        is_open = self.thread.kind == "channel" and not self.thread.is_private
        return self.thread.owner == owner and (is_open or Party(agent) in self.members)


class Reaction(Struct, frozen=True, kw_only=True):
    message_id: str
    emoji: str
    role: Role
    sender: str
    created_at: int


class Change(Struct, frozen=True, kw_only=True):
    """What is to be different about a channel; what is None stays."""

    name: str | None = None
    topic: str | None = None
    is_private: bool | None = None
