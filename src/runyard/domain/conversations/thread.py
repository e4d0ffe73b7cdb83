"""A thread: a lasting conversation. Runs belong to it; questions and answers become messages."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from runyard.domain.content.parts import File, Part, decoded
from runyard.domain.conversations.recipients import Participant

ThreadKind = Literal["chat", "channel", "dm"]
Role = Literal["user", "assistant"]
MOST_UNREAD = 100
# The text of a deleted message. It keeps its place, so that replies to it stay where they are.
DELETED = "(deleted)"


class Thread(Struct, frozen=True, kw_only=True):
    """A chat, a channel or a DM. `metadata` is the JSON of values that a client stores with a chat."""

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
    metadata: str | None = None

    @property
    def last_activity(self) -> str:
        """The newer id of the thread and its newest run: ids sort by time."""
        return max(self.head_run_id or "", self.id)


class Message(Struct, frozen=True, kw_only=True):
    """A message in a thread.

    `run_id` is the run that it started, or the run that posted it. In a channel or a DM it has a `sender`, a person or
    (role assistant) an agent, and may be a reply to the message `parent_id`.

    `parts` is the JSON of its content parts, None for plain text; read `content` instead. `text` is the text of them.
    `edited_at`: when its text was changed last. `deleted_at`: when it was deleted; its text is then `DELETED`.

    Example:
        >>> @runyard.agent
        ... async def recorder(ctx: runyard.Context) -> str:
        ...     messages: list[runyard.Message] = [*await ctx.history(), ctx.message]
        ...     return ", ".join(f"{message.role}: {message.text}" for message in messages)
        >>> run_agent_sync(recorder, "Bye", history=[("Hi", "Hello")]).text
        'user: Hi, assistant: Hello, user: Bye'
    """

    id: str
    thread_id: str
    role: Role
    text: str
    run_id: str | None = None
    sources: list[str] = []
    created_at: int
    sender: str | None = None
    parent_id: str | None = None
    parts: str | None = None
    edited_at: int | None = None
    deleted_at: int | None = None

    @property
    def content(self) -> list[Part]:
        """Return the content parts; none for plain text.

        Example:
            >>> @runyard.agent
            ... async def lister(ctx: runyard.Context) -> str:
            ...     return ", ".join(type(part).__name__ for part in ctx.message.content)
            >>> run_agent_sync(lister, "Read this.", files=[("note.txt", b"Buy tea.", "text/plain")]).text
            'TextPart, File'
        """
        return decoded(self.parts)

    @property
    def files(self) -> list[File]:
        """Return the files of the message, in order. `await file.read()` returns the bytes of one.

        Example:
            >>> @runyard.agent
            ... async def lister(ctx: runyard.Context) -> str:
            ...     return ", ".join(file.name for file in ctx.message.files)
            >>> run_agent_sync(lister, "Read this.", files=[("note.txt", b"Buy tea.", "text/plain")]).text
            'note.txt'
        """
        return [part for part in self.content if isinstance(part, File)]

    @property
    def party(self) -> Participant:
        """Return the sender as a participant."""
        return Participant(self.sender or "", "user" if self.role == "user" else "agent")


class Conversation(Struct, frozen=True):
    """A channel or a DM with its members, in the order they joined."""

    thread: Thread
    members: Sequence[Participant]

    def is_seen_by(self, caller: str) -> bool:
        """Return whether a person sees it: its owner and its members do, and all people see a public channel."""
        thread = self.thread
        is_open = thread.kind == "channel" and not thread.is_private
        return is_open or thread.owner == caller or Participant(caller, "user") in self.members

    def may_speak(self, agent: str, owner: str) -> bool:
        """Return whether an agent that works for this owner may post here."""
        is_open = self.thread.kind == "channel" and not self.thread.is_private
        return self.thread.owner == owner and (is_open or Participant(agent) in self.members)


class Reaction(Struct, frozen=True, kw_only=True):
    """A participant's emoji on a message."""

    message_id: str
    emoji: str
    role: Role
    sender: str
    created_at: int


class Change(Struct, frozen=True, kw_only=True):
    """Changes to a channel; None keeps the present value."""

    name: str | None = None
    topic: str | None = None
    is_private: bool | None = None


class Share(Struct, frozen=True, kw_only=True):
    """A link that shows the messages of a thread up to `upto` to readers without a key, until it expires. Only a
    digest of its token is stored."""

    id: str
    owner: str
    thread_id: str
    digest: str
    upto: str
    created_at: int = 0
    expires_at: int = 0


class Unread(Struct, frozen=True, kw_only=True):
    """How far a person has read a conversation: up to the message `read_id` (None: no message), and the number of later
    messages of other senders, which is at most `MOST_UNREAD`."""

    thread_id: str
    kind: ThreadKind
    read_id: str | None
    count: int
