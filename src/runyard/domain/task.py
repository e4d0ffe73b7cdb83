"""A task: the input of a run without a message. It is stored in the first event of the run's log."""

from typing import Any

import msgspec
from msgspec import Struct


class Budget(Struct, frozen=True, omit_defaults=True):
    """Limits of one run. The tighter of these and the agent's own limits applies. `timeout_ms` starts when the run is
    requested and includes the time that it waits for a worker or a person."""

    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    max_escalations: int | None = None
    timeout_ms: int | None = None


class Task(Struct, frozen=True, omit_defaults=True):
    """A task of a kind (`type`) with its `inputs` (JSON). `labels` are the caller's own ids and texts by name; they are
    passed on unchanged to every agent that the run calls. `traceparent` is the caller's trace."""

    type: str
    inputs: dict[str, Any] = {}
    labels: dict[str, str] = {}
    budget: Budget = Budget()
    traceparent: str | None = None

    @property
    def text(self) -> str:
        """Return the task as a message: its only input, if that is a text, else all inputs as JSON."""
        values = list(self.inputs.values())
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
        return msgspec.json.encode(self.inputs).decode()


def deadline(asked_at: int, task: Task | None) -> int | None:
    """Return the deadline of a run that was requested at `asked_at`, both in milliseconds since 1970; None without a
    timeout."""
    if task is None or task.budget.timeout_ms is None:
        return None
    return asked_at + task.budget.timeout_ms
