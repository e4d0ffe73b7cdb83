"""A task: what a run is asked to do that no message caused. It stands in the first event of the run's log."""

from typing import Any

import msgspec
from msgspec import Struct


class Budget(Struct, frozen=True, omit_defaults=True):
    """What one run may spend; the tighter of this and the agent's own limits counts. `timeout_ms` counts from the
    moment the run was asked for, and goes on while the run waits, for a worker or for a person."""

    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    max_escalations: int | None = None
    timeout_ms: int | None = None


class Task(Struct, frozen=True, omit_defaults=True):
    """`type` says what is to be done, `inputs` (JSON) with what. `labels` are ids and words of whoever asks, by name;
    they are passed on as they are to every agent that is asked in turn. `traceparent` is the trace of whoever asks."""

    type: str
    inputs: dict[str, Any] = {}
    labels: dict[str, str] = {}
    budget: Budget = Budget()
    traceparent: str | None = None

    @property
    def text(self) -> str:
        """The task as something that was said: its one input, if that is a text, else all of them as JSON."""
        values = list(self.inputs.values())
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
        return msgspec.json.encode(self.inputs).decode()


def deadline(asked_at: int, task: Task | None) -> int | None:
    """When a run must have ended that was asked for at `asked_at`; both are milliseconds since 1970."""
    if task is None or task.budget.timeout_ms is None:
        return None
    return asked_at + task.budget.timeout_ms
