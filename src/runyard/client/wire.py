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


class RunInfo(Struct, frozen=True, kw_only=True):
    """A run. `runs()` fills every field, `run()` only some. Times are ISO 8601."""

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
    """An approval that a run waits for."""

    approval_id: str
    run_id: str
    call_id: str
    kind: str
    tool: str
    state: str
    created_at: str
    input: Any = None


class WaitInfo(Struct, frozen=True, kw_only=True):
    """Something that a run waits for: an approval, a question or a client tool. `kind` says which (docs/waits.md).

    `answer_schema` is the JSON Schema of the answer; without it, any JSON value is one."""

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


class Page(Struct, frozen=True):
    """One page of a list. `next` is the cursor of the page after it."""

    next: str | None = None
    runs: list[RunInfo] = []
    approvals: list[ApprovalInfo] = []
    keys: list[KeyInfo] = []
    waits: list[WaitInfo] = []


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
