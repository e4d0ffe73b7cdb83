"""The common part of all payloads: the closed list of types, and the base class."""

from typing import ClassVar, Literal, get_args

from msgspec import Struct

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


class PayloadBase(Struct, frozen=True, omit_defaults=True):
    type: ClassVar[EventType]
