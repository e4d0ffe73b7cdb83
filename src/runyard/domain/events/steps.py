"""The work of an agent: its steps, its marks, and what its model writes."""

from typing import Any

from runyard.domain.events.base import PayloadBase, Usage


class StepStarted(PayloadBase, frozen=True):
    """A step started. `step` is its key (unique in the run), `hash` the hash of its arguments."""

    type = "step.started"
    step: str
    name: str
    model: str | None = None
    hash: str | None = None


class StepFinished(PayloadBase, frozen=True):
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


class ModelThinking(PayloadBase, frozen=True):
    """A piece of the model's reasoning, for display."""

    type = "model.thinking"
    text: str


class ModelToken(PayloadBase, frozen=True):
    """A piece of the answer, for display; `run.output` is authoritative."""

    type = "model.token"
    text: str


class ModelReset(PayloadBase, frozen=True):
    """Discard the text after the last finished step, tool or message (the event `after`): it will be written again."""

    type = "model.reset"
    step: str | None = None
    after: int | None = None


class ModelMessage(PayloadBase, frozen=True):
    """A complete assistant message from the provider, with its usage."""

    type = "model.message"
    step: str
    message: dict[str, Any]
    usage: Usage | None = None


class Trace(PayloadBase, frozen=True):
    """A mark that the agent sets for debugging: a stable name, never content."""

    type = "trace"
    fn: str
