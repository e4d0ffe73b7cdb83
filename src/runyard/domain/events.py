"""The core events: a closed union. What a run did, in the order it was committed.

`Event` is the envelope; its `data` is the JSON of one payload below, encoded once: stored, cached and sent as the
same bytes. Adding a payload means adding it to `Payload` and `EventType`; every face then fails type checking until
it has said what it does with the new kind (they match on `EventType` and end in `assert_never`).

Schema versions (`v`):
    1  the union below
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from runyard.clock import Clock
from runyard.domain.task import Task
from runyard.ids import new_id

SCHEMA_VERSION = 1

EventType = Literal[
    "run.queued",
    "run.resumed",
    "step.started",
    "step.finished",
    "model.thinking",
    "model.token",
    "model.reset",
    "model.message",
    "tool.requested",
    "approval.requested",
    "approval.decided",
    "tool.started",
    "tool.output",
    "tool.finished",
    "run.waiting",
    "trace",
    "run.output",
    "run.error",
    "run.canceled",
    "run.finished",
]
EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
Source = Literal["api", "worker"]
TERMINAL: EventType = "run.finished"

# A finished step, tool or model message: what a resume never repeats, and what resets the count of attempts.
PROGRESS: frozenset[EventType] = frozenset({"step.finished", "tool.finished", "model.message", "approval.decided"})


class Usage(Struct, frozen=True, omit_defaults=True):
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    def __add__(self, more: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + more.input_tokens, self.output_tokens + more.output_tokens, self.usd + more.usd
        )


class _Payload(Struct, frozen=True, omit_defaults=True):
    type: ClassVar[EventType]


class Origin(Struct, frozen=True):
    """A place in the log of another run."""

    run_id: str
    seq: int


class RunQueued(_Payload, frozen=True):
    """Seq 1 of every run, written by intake: who is to answer, and the id of the message that caused it, or the task
    that was given without one. `copied`: this log begins with a copy of another, up to there; a fork made it."""

    type = "run.queued"
    agent: str
    trigger: str | None = None
    task: Task | None = None
    copied: Origin | None = None


class RunResumed(_Payload, frozen=True):
    """A worker goes on with a run that was begun before: after a crash, a drain or a decision."""

    type = "run.resumed"
    attempt: int
    why: Literal["crash", "drain", "decision"]


class StepStarted(_Payload, frozen=True):
    """A step began. `step` is its key (unique in the run), `hash` that of its arguments."""

    type = "step.started"
    step: str
    name: str
    model: str | None = None
    hash: str | None = None


class StepFinished(_Payload, frozen=True):
    """A step ended with a result, or with the class name of the error it raised and its `traceback`. After
    `result_not_json` the `result` is the name of the type that has no JSON. `wrote`: whether the step wrote text."""

    type = "step.finished"
    step: str
    name: str
    usage: Usage | None = None
    result: Any = None
    error: str | None = None
    traceback: str | None = None
    wrote: bool = False


class ModelThinking(_Payload, frozen=True):
    """A piece of reasoning, for display."""

    type = "model.thinking"
    text: str


class ModelToken(_Payload, frozen=True):
    """A piece of the answer, for display; `run.output` is authoritative."""

    type = "model.token"
    text: str


class ModelReset(_Payload, frozen=True):
    """Drop the text shown since the last finished step, tool or message, which is the event `after`: it will be written
    again."""

    type = "model.reset"
    step: str | None = None
    after: int | None = None


class ModelMessage(_Payload, frozen=True):
    """A whole assistant message as the provider gave it, with what it cost."""

    type = "model.message"
    step: str
    message: dict[str, Any]
    usage: Usage | None = None


class ToolRequested(_Payload, frozen=True):
    """The agent wants a tool called; it may have to wait for a person."""

    type = "tool.requested"
    call_id: str
    tool: str
    input: Any


class ApprovalRequested(_Payload, frozen=True):
    """A person is asked. `unknown_outcome`: the call had begun when its worker died, and nobody knows whether it took
    effect."""

    type = "approval.requested"
    approval_id: str
    call_id: str
    kind: Literal["tool", "unknown_outcome", "question"]
    tool: str
    input: Any
    expires_at: int | None = None


class ApprovalDecided(_Payload, frozen=True):
    """The answer; the first one counts."""

    type = "approval.decided"
    approval_id: str
    decision: Literal["approved", "rejected", "expired"]
    by: str
    input: Any = None
    reason: str | None = None


class ToolStarted(_Payload, frozen=True):
    """Committed before the tool is called. `input` is the effective one, after any edit by the approver."""

    type = "tool.started"
    call_id: str
    tool: str
    input: Any


class ToolOutput(_Payload, frozen=True):
    """A chunk of a tool's output while it runs, for display."""

    type = "tool.output"
    call_id: str
    text: str


class ToolFinished(_Payload, frozen=True):
    """A tool ended; `error` is a code, and `output` then says what the model may know of it. `traceback` is of what the
    tool's own code raised."""

    type = "tool.finished"
    call_id: str
    tool: str
    output: Any = None
    error: str | None = None
    ms: int = 0
    traceback: str | None = None


class RunWaiting(_Payload, frozen=True):
    """The run left its worker; any decision on one of these approvals brings it back."""

    type = "run.waiting"
    approvals: list[str]


class Trace(_Payload, frozen=True):
    """A mark the agent left for whoever debugs it: a stable name, never content."""

    type = "trace"
    fn: str


class RunOutput(_Payload, frozen=True, omit_defaults=False):
    """The answer of a run that is about to be done: all the text that was shown. `last` is what was said last, where
    that is not all of it."""

    type = "run.output"
    text: str
    sources: list[str] = []
    outputs: dict[str, Any] = {}
    last: str | UnsetType = UNSET


class RunError(_Payload, frozen=True):
    """Why a run is about to end as error: a code, a sentence without content, and the `traceback` of what the agent's
    own code raised."""

    type = "run.error"
    code: str
    message: str
    traceback: str | None = None


class RunCanceled(_Payload, frozen=True):
    """Why a run is about to end as canceled."""

    type = "run.canceled"
    reason: str


class RunFinished(_Payload, frozen=True):
    """The last event of every run, exactly once, in the transaction that sets the status."""

    type = "run.finished"
    status: Literal["done", "error", "canceled"]
    stop_reason: str
    usage: Usage | None = None


Payload: TypeAlias = (
    RunQueued
    | RunResumed
    | StepStarted
    | StepFinished
    | ModelThinking
    | ModelToken
    | ModelReset
    | ModelMessage
    | ToolRequested
    | ApprovalRequested
    | ApprovalDecided
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | RunWaiting
    | Trace
    | RunOutput
    | RunError
    | RunCanceled
    | RunFinished
)
PAYLOADS: dict[EventType, type[Payload]] = {kind.type: kind for kind in get_args(Payload)}


class Draft(Struct, frozen=True, gc=False):
    """An event that has no place in the log yet. The journal gives it one.

    Like `Event` it holds only text, numbers and bytes, so the garbage collector need not look at it: there are many."""

    id: str
    ts: int
    type: EventType
    data: bytes
    name: str | None = None
    fn: str | None = None
    source: Source = "worker"


class Event(Struct, frozen=True, gc=False):
    """One entry of a run's log: `(run_id, seq)`, contiguous from 1, never changed."""

    run_id: str
    seq: int
    id: str
    ts: int
    type: EventType
    data: bytes
    name: str | None = None
    fn: str | None = None
    source: Source = "worker"
    v: int = SCHEMA_VERSION

    @property
    def payload(self) -> Payload:
        return decode(self.type, self.data)


_encode = msgspec.json.Encoder().encode
_decoders: dict[str, msgspec.json.Decoder[Payload]] = {
    name: msgspec.json.Decoder(kind) for name, kind in PAYLOADS.items()
}


def decode(kind: EventType, data: bytes) -> Payload:
    return _decoders[kind].decode(data)


class Drafter:
    """Makes drafts: stamps them with the time and an id of their own."""

    def __init__(self, clock: Clock, source: Source) -> None:
        self._now = clock.now_ms
        self._source: Source = source

    def __call__(self, payload: Payload) -> Draft:
        name = payload.name if isinstance(payload, StepStarted | StepFinished) else None
        fn = payload.fn if isinstance(payload, Trace) else None
        return Draft(new_id(), self._now(), payload.type, _encode(payload), name, fn, self._source)

    def token(self, text: str) -> Draft:
        """`self(ModelToken(text))` for the hot path."""
        return Draft(new_id(), self._now(), "model.token", _encode({"text": text}), None, None, self._source)


def place(run_id: str, first_seq: int, drafts: Sequence[Draft]) -> list[Event]:
    """The events that these drafts became when the store put them at `first_seq` and after."""
    return [
        Event(run_id, first_seq + n, d.id, d.ts, d.type, d.data, d.name, d.fn, d.source) for n, d in enumerate(drafts)
    ]


def clean(text: str) -> str:
    """Text that every store can hold and every encoder can write: no NUL, no lone surrogates; and not U+FDD0, which is
    no character and marks what is sealed (`encryption/cipher.py`)."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").replace("\ufdd0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
