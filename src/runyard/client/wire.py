"""The objects that the client returns. Fields that a newer server adds are ignored."""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from runyard.errors import RunyardError

ENDED = frozenset({"done", "error", "canceled"})
T = TypeVar("T")


class LogEvent(Struct, frozen=True, kw_only=True):
    """One event of a run's log. `ts` is in milliseconds since 1970."""

    run_id: str
    seq: int
    id: str
    ts: int
    type: str
    data: dict[str, Any]
    v: int = 1
    source: str = "worker"
    name: str | None = None
    fn: str | None = None


class UsageInfo(Struct, frozen=True):
    """Tokens and cost of model calls, in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Return the sum of both."""
        return self.input_tokens + self.output_tokens


class FeedbackInfo(Struct, frozen=True, kw_only=True):
    """A person's rating of a run's answer: `"up"` or `"down"`, with a comment."""

    value: str
    comment: str | None = None
    created_at: str = ""


class RunInfo(Struct, frozen=True, kw_only=True):
    """A run. `runs()` fills every field, `run()` only some. Times are ISO 8601. `question` is the beginning of the
    message that it answers. `usage` counts once it has ended, also the model calls of its child runs."""

    run_id: str
    status: str
    created_at: str
    waiting: bool = False
    thread_id: str | None = None
    agent: str | None = None
    stop_reason: str | None = None
    attempts: int = 0
    last_seq: int = 0
    started_at: str | None = None
    finished_at: str | None = None
    error_code: str | None = None
    error: str | None = None
    retry_of: str | None = None
    superseded_by: str | None = None
    parent_run_id: str | None = None
    question: str | None = None
    usage: UsageInfo = UsageInfo()
    feedback: FeedbackInfo | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the run is done, failed or canceled."""
        return self.status in ENDED


class FileInfo(Struct, frozen=True, kw_only=True):
    """An uploaded file. `type` is its media type, `size` the number of its bytes."""

    file_id: str
    name: str
    type: str
    size: int
    created_at: str = ""


class ApprovalInfo(Struct, frozen=True, kw_only=True):
    """An approval that a run waits for. `question` is the beginning of the message that the run answers."""

    approval_id: str
    run_id: str
    call_id: str
    kind: str
    tool: str
    state: str
    created_at: str
    input: Any = None
    agent: str | None = None
    question: str | None = None


class WaitInfo(Struct, frozen=True, kw_only=True):
    """Something that a run waits for: an approval, a question or a client tool. `kind` says which (docs/waits.md).

    `answer_schema` is the JSON Schema of the answer; without it, any JSON value is one. `question` is the message that
    the run answers, in lists its beginning."""

    wait_id: str
    run_id: str
    call_id: str
    kind: str
    name: str
    state: str
    created_at: str
    prompt: str | None = None
    input: Any = None
    answer_schema: dict[str, Any] | None = None
    expires_at: str | None = None
    agent: str | None = None
    question: str | None = None

    @property
    def is_approval(self) -> bool:
        """Whether it is approved or rejected, and not answered with a value."""
        return self.kind not in ("question", "client_tool")


class KeyInfo(Struct, frozen=True, kw_only=True):
    """An API key. `key` is the key itself; only the response that creates it has it."""

    key_id: str
    owner: str
    scopes: list[str]
    created_at: str
    label: str = ""
    expires_at: str | None = None
    last_used_at: str | None = None
    revoked_at: str | None = None
    key: str | None = None

    def __repr__(self) -> str:
        return f"KeyInfo(key_id={self.key_id!r}, owner={self.owner!r})"


class OutboxInfo(Struct, frozen=True):
    """How far the publication of events is behind."""

    runs_behind: int = 0
    lag_ms: int = 0


class WorkerInfo(Struct, frozen=True):
    """A worker with its lease."""

    label: str
    lease_left_ms: int
    runs: int = 0


class PodInfo(Struct, frozen=True):
    """The process that answered."""

    open_streams: int = 0
    runs: int = 0


class DatabaseInfo(Struct, frozen=True):
    """The database and its health."""

    version: str = ""
    latency_ms: float = 0.0
    clock_skew_ms: int = 0
    size_bytes: int = 0
    xmin_age: int | None = None


class OverviewInfo(Struct, frozen=True, kw_only=True):
    """The load and health of an installation. `pod` is the process that answered."""

    queued: int
    oldest_waiting_ms: int
    running: int
    approvals_waiting: int
    outbox: OutboxInfo
    workers: list[WorkerInfo]
    pod: PodInfo
    database: DatabaseInfo


class ThreadInfo(Struct, frozen=True, kw_only=True):
    """A thread: a conversation with an agent. `head_run_id` is its newest run. `title` is the given title, or the first
    words of the first message."""

    thread_id: str
    created_at: str
    kind: str = "chat"
    agent: str | None = None
    head_run_id: str | None = None
    title: str | None = None


class FoundMessage(Struct, frozen=True, kw_only=True):
    """A message that a search found. `thread_id` is its chat, channel or DM, and `kind` says which. `text` is the piece
    around the first word; `marks` are the words in it, each with its start and end."""

    thread_id: str
    message_id: str
    role: str
    created_at: str
    text: str
    marks: list[tuple[int, int]] = []
    kind: str = "chat"
    title: str | None = None
    run_id: str | None = None


class FoundIds(Struct, frozen=True):
    """Whole ids that a part of an id found, newest first."""

    ids: list[str] = []


class FoundPage(Struct, frozen=True):
    """A page of messages that a search found."""

    messages: list[FoundMessage] = []
    next: str | None = None


class ThreadMessage(Struct, frozen=True, kw_only=True):
    """A message of a thread. `role` is `user` or `assistant`."""

    id: str
    role: str
    content: str
    created_at: str


class AgentInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """An agent. `is_declared`: code declares it, and every owner can use it."""

    id: str
    display_name: str = ""
    title: str = ""
    model_id: str | None = None
    max_turns: int = 0
    max_budget_usd: float = 0.0
    system_prompt: str = ""
    is_active: bool = True
    is_declared: bool = False
    created_at: str = ""
    updated_at: str = ""


class MemberInfo(Struct, frozen=True):
    """A person or an agent in a channel."""

    id: str
    kind: str


class ChannelInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A channel, or a DM: `kind` is `public`, `private` or `dm`."""

    id: str
    created_at: str
    name: str = ""
    kind: str = "dm"
    topic: str | None = None
    members: list[MemberInfo] = []
    participants: list[MemberInfo] = []

    @property
    def people(self) -> list[MemberInfo]:
        """Return the members of a channel, or the participants of a DM."""
        return self.members or self.participants


class ChannelMessage(Struct, frozen=True, kw_only=True, rename="camel"):
    """A message in a channel or a DM. `user_id` is its sender, a person or an agent."""

    id: str
    user_id: str
    text: str
    created_at: str
    is_agent: bool = False
    parent_message_id: str | None = None


class BlockInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A memory block: a part of every prompt of its agent. `owner_id` is the agent that writes it."""

    label: str
    content: str
    owner_id: str
    updated_at: str
    is_shared: bool = False


class PassageInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A passage: a text that an agent stored and finds by its words."""

    id: str
    content: str
    created_at: str
    tags: list[str] = []


class Page(Struct, frozen=True):
    """One page of a list. `next` is the cursor of the page after it."""

    next: str | None = None
    runs: list[RunInfo] = []
    approvals: list[ApprovalInfo] = []
    keys: list[KeyInfo] = []
    waits: list[WaitInfo] = []
    threads: list[ThreadInfo] = []
    agents: list[AgentInfo] = []
    channels: list[ChannelInfo] = []
    dms: list[ChannelInfo] = []
    blocks: list[BlockInfo] = []
    passages: list[PassageInfo] = []
    data: list[dict[str, Any]] = []


class Delivered(Struct, frozen=True):
    """Whether an event was new."""

    delivered: bool = True


class Made(Struct, frozen=True):
    """The object that a request created or changed."""

    thread_id: str = ""
    run_id: str = ""
    status: str = ""


decode_event = msgspec.json.Decoder(LogEvent).decode


def read(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError:
        raise RunyardError("The response is not a Runyard server's; check the address.") from None
