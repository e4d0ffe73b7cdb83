"""The core events of a run's log: a closed union.

`Event` is the envelope; its `data` is the JSON of one payload, encoded once: stored, cached and sent as the same bytes.
Adding a payload means adding it to `Payload` here and to `EventType` in `base.py`; every face then fails type checking
until it handles the new kind (they match on `EventType` and end in `assert_never`).

Schema versions (`v`):
    1  the union below
"""

from collections.abc import Sequence
from typing import TypeAlias, get_args

import msgspec
from msgspec import Struct

from runyard.base.clock import Clock
from runyard.base.ids import new_id
from runyard.domain.events.base import EVENT_TYPES, PROGRESS, TERMINAL, EventType, Source, Usage
from runyard.domain.events.clean_text import clean, cleaned
from runyard.domain.events.messages import MessageReceived, MessageTaken
from runyard.domain.events.run import (
    ClientTool,
    Origin,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunResumed,
    RunWaiting,
)
from runyard.domain.events.steps import (
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    StepFinished,
    StepStarted,
    Trace,
)
from runyard.domain.events.tools import ToolFinished, ToolOutput, ToolRequested, ToolStarted
from runyard.domain.events.waits import ApprovalDecided, ApprovalRequested, WaitAnswered, WaitRequested

__all__ = [
    "EVENT_TYPES",
    "PAYLOADS",
    "PROGRESS",
    "SCHEMA_VERSION",
    "TERMINAL",
    "ApprovalDecided",
    "ApprovalRequested",
    "ClientTool",
    "Draft",
    "Drafter",
    "Event",
    "EventType",
    "MessageReceived",
    "MessageTaken",
    "ModelMessage",
    "ModelReset",
    "ModelThinking",
    "ModelToken",
    "Origin",
    "Payload",
    "RunCanceled",
    "RunError",
    "RunFinished",
    "RunOutput",
    "RunQueued",
    "RunResumed",
    "RunWaiting",
    "Source",
    "StepFinished",
    "StepStarted",
    "ToolFinished",
    "ToolOutput",
    "ToolRequested",
    "ToolStarted",
    "Trace",
    "Usage",
    "WaitAnswered",
    "WaitRequested",
    "clean",
    "cleaned",
    "decode",
    "place",
]

SCHEMA_VERSION = 1

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
