"""The core events of a run's log: a closed union.

`Event` is the envelope; its `data` is the JSON of one payload below, encoded once: stored, cached and sent as the
same bytes. Adding a payload means adding it to `Payload` and `EventType`; every face then fails type checking until
it handles the new kind (they match on `EventType` and end in `assert_never`).

Schema versions (`v`):
    1  the union below
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from runyard.clock import Clock
from runyard.domain.content import File, Image, Part
from runyard.domain.task import RunOptions, Task
from runyard.domain.wait import ValueKind
from runyard.ids import new_id

SCHEMA_VERSION = 1

EventType = Literal[
    "run.queued",
    "run.resumed",
    "message.received",
    "message.taken",
    "step.started",
    "step.finished",
    "model.thinking",
    "model.token",
    "model.reset",
    "model.message",
    "tool.requested",
    "approval.requested",
    "approval.decided",
    "wait.requested",
    "wait.answered",
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

# Results. A resumed run does not repeat them, and they reset the count of attempts.
PROGRESS: frozenset[EventType] = frozenset(
    {"step.finished", "tool.finished", "model.message", "approval.decided", "wait.answered"}
)


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens and cost of model calls."""

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
    """A position in the log of another run."""

    run_id: str
    seq: int


class ClientTool(Struct, frozen=True, omit_defaults=True):
    """A tool that the client calls, as it declares it with a request. `schema` is the JSON Schema of its input."""

    name: str
    description: str = ""
    schema: dict[str, Any] = {}


class RunQueued(_Payload, frozen=True):
    """The first event of every run, written by intake: the agent, and the id of the message that caused the run or its
    task. `copied`: for forks, the run and seq that this log was copied from. `parent`: for child runs, the run that
    waits for this one. `client_tools`: tools that the client supplied with its request. `options`: what else it asked
    for."""

    type = "run.queued"
    agent: str
    trigger: str | None = None
    task: Task | None = None
    copied: Origin | None = None
    parent: str | None = None
    client_tools: list[ClientTool] = []
    options: RunOptions | None = None


class RunResumed(_Payload, frozen=True):
    """A worker continues a run after a crash, a drain or an answer. `decision` is the answer of any kind of wait."""

    type = "run.resumed"
    attempt: int
    why: Literal["crash", "drain", "decision"]


class MessageReceived(_Payload, frozen=True):
    """A message came for a run that had not ended. It belongs to this run if a `message.taken` follows. Otherwise it
    starts the next run of the thread when this one ends. `parts` is its content, if it is not plain text."""

    type = "message.received"
    message_id: str
    text: str
    parts: list[Part] = []


class MessageTaken(_Payload, frozen=True):
    """The agent continues with this message. A model gets it before its next turn."""

    type = "message.taken"
    message_id: str


class StepStarted(_Payload, frozen=True):
    """A step started. `step` is its key (unique in the run), `hash` the hash of its arguments."""

    type = "step.started"
    step: str
    name: str
    model: str | None = None
    hash: str | None = None


class StepFinished(_Payload, frozen=True):
    """A step ended with a result, or with the class name of its error and a `traceback`. With the error
    `result_not_json` the `result` is the name of the type that cannot be encoded. `wrote`: whether the step wrote
    text."""

    type = "step.finished"
    step: str
    name: str
    usage: Usage | None = None
    result: Any = None
    error: str | None = None
    traceback: str | None = None
    wrote: bool = False


class ModelThinking(_Payload, frozen=True):
    """A piece of the model's reasoning, for display."""

    type = "model.thinking"
    text: str


class ModelToken(_Payload, frozen=True):
    """A piece of the answer, for display; `run.output` is authoritative."""

    type = "model.token"
    text: str


class ModelReset(_Payload, frozen=True):
    """Discard the text after the last finished step, tool or message (the event `after`): it will be written again."""

    type = "model.reset"
    step: str | None = None
    after: int | None = None


class ModelMessage(_Payload, frozen=True):
    """A complete assistant message from the provider, with its usage."""

    type = "model.message"
    step: str
    message: dict[str, Any]
    usage: Usage | None = None


class ToolRequested(_Payload, frozen=True):
    """The agent requested a tool call. It may wait for an approval."""

    type = "tool.requested"
    call_id: str
    tool: str
    input: Any


class ApprovalRequested(_Payload, frozen=True):
    """A person is asked for a decision. `unknown_outcome`: the call had started when its worker died, and it is unknown
    whether it took effect."""

    type = "approval.requested"
    approval_id: str
    call_id: str
    kind: Literal["tool", "unknown_outcome", "question"]  # "question": a wait of the kind `confirmation`
    tool: str
    input: Any
    expires_at: int | None = None


class ApprovalDecided(_Payload, frozen=True):
    """The decision on an approval. The first one counts."""

    type = "approval.decided"
    approval_id: str
    decision: Literal["approved", "rejected", "expired"]
    by: str
    input: Any = None
    reason: str | None = None


class WaitRequested(_Payload, frozen=True):
    """The run waits for a value. `name` is the name of the client's tool, of the child's agent or of the event.

    `input` is the input of the client's tool, the message for the child or the key of the event. `schema` is the JSON
    Schema of the answer. `child` is the id of the child run. After `expires_at` a timer is due, and any other wait is
    answered with `default`, or expires if it has none."""

    type = "wait.requested"
    wait_id: str
    call_id: str
    kind: ValueKind
    name: str
    prompt: str | None = None
    input: Any = None
    schema: dict[str, Any] | None = None
    default: Any = UNSET
    child: str | None = None
    expires_at: int | None = None


class WaitAnswered(_Payload, frozen=True):
    """The answer to a wait. The first one counts. `failed`: the child or the client's tool ended with an error (`code`
    and `message`). `usage` is the usage of the child."""

    type = "wait.answered"
    wait_id: str
    outcome: Literal["answered", "failed", "expired"]
    by: str
    value: Any = None
    code: str | None = None
    message: str | None = None
    usage: Usage | None = None


class ToolStarted(_Payload, frozen=True):
    """A tool call starts; committed before the call. `input` is the effective input, after any edit by the approver."""

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
    """A tool call ended. `error` is a code; `output` is then the message for the model. `traceback` is set if the
    tool's own code raised an error."""

    type = "tool.finished"
    call_id: str
    tool: str
    output: Any = None
    error: str | None = None
    ms: int = 0
    traceback: str | None = None


class RunWaiting(_Payload, frozen=True):
    """The run left its worker. An answer to any of these waits resumes it."""

    type = "run.waiting"
    waits: list[str] = []


class Trace(_Payload, frozen=True):
    """A mark that the agent sets for debugging: a stable name, never content."""

    type = "trace"
    fn: str


class RunOutput(_Payload, frozen=True, omit_defaults=False):
    """The answer of a run that is about to be done: all the text that was shown. `last` is the last message, if that is
    not the whole text. `files` are the files that belong to the answer."""

    type = "run.output"
    text: str
    sources: list[str] = []
    outputs: dict[str, Any] = {}
    last: str | UnsetType = UNSET
    files: list[File | Image] | UnsetType = UNSET


class RunError(_Payload, frozen=True):
    """The reason why a run ends as error: a code, a sentence without content, and a `traceback` if the agent's own code
    raised an error."""

    type = "run.error"
    code: str
    message: str
    traceback: str | None = None


class RunCanceled(_Payload, frozen=True):
    """The reason why a run ends as canceled."""

    type = "run.canceled"
    reason: str


class RunFinished(_Payload, frozen=True):
    """The last event of every run, written once, in the transaction that sets the status."""

    type = "run.finished"
    status: Literal["done", "error", "canceled"]
    stop_reason: str
    usage: Usage | None = None


Payload: TypeAlias = (
    RunQueued
    | RunResumed
    | MessageReceived
    | MessageTaken
    | StepStarted
    | StepFinished
    | ModelThinking
    | ModelToken
    | ModelReset
    | ModelMessage
    | ToolRequested
    | ApprovalRequested
    | ApprovalDecided
    | WaitRequested
    | WaitAnswered
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
    """An event without a seq. The journal assigns one.

    Like `Event` it has only text, numbers and bytes, so the garbage collector need not track it (`gc=False`)."""

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
    """Make drafts with the current time and a new id."""

    def __init__(self, clock: Clock, source: Source) -> None:
        self._now = clock.now_ms
        self._source: Source = source

    def __call__(self, payload: Payload) -> Draft:
        name = payload.name if isinstance(payload, StepStarted | StepFinished) else None
        fn = payload.fn if isinstance(payload, Trace) else None
        return Draft(new_id(), self._now(), payload.type, _encode(payload), name, fn, self._source)

    def token(self, text: str) -> Draft:
        """Make a `model.token` draft. The fast form of `self(ModelToken(text))`."""
        return Draft(new_id(), self._now(), "model.token", _encode({"text": text}), None, None, self._source)


def place(run_id: str, first_seq: int, drafts: Sequence[Draft]) -> list[Event]:
    """Return the events that these drafts become at `first_seq` and after."""
    return [
        Event(run_id, first_seq + n, d.id, d.ts, d.type, d.data, d.name, d.fn, d.source) for n, d in enumerate(drafts)
    ]


def cleaned(value: Any) -> Any:
    """Return a JSON value whose texts are clean, see `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): cleaned(item) for key, item in value.items()}
    return value


def clean(text: str) -> str:
    """Return text that every store can store and every encoder can write: without NUL and lone surrogates, and without
    U+FDD0, a noncharacter that marks sealed values (`encryption/cipher.py`)."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").replace("\ufdd0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
