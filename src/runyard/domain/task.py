"""A task: the input of a run without a message. Options: what a client asks for besides a message. Both are stored in
the first event of the run's log."""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from runyard.domain.content.parts import File, Part, StoredContent, from_json


class Budget(Struct, frozen=True, omit_defaults=True):
    """Limits of one run. The tighter of these and the agent's own limits applies. `timeout_ms` starts when the run is
    requested and includes the time that it waits for a worker or a person."""

    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    max_escalations: int | None = None
    timeout_ms: int | None = None
    max_usd: float | None = None

    def after(self, output_tokens: int, usd: float) -> "Budget":
        """Return what is left of the tokens and the money after this was spent."""
        return Budget(
            max_output_tokens=None
            if self.max_output_tokens is None
            else max(0, self.max_output_tokens - output_tokens),
            max_context_tokens=self.max_context_tokens,
            max_escalations=self.max_escalations,
            max_usd=None if self.max_usd is None else max(0.0, self.max_usd - usd),
        )

    def within(self, other: "Budget", *timeouts_ms: int | None) -> "Budget":
        """Return the tighter of both budgets, and of these timeouts."""
        return Budget(
            max_output_tokens=_least(self.max_output_tokens, other.max_output_tokens),
            max_context_tokens=_least(self.max_context_tokens, other.max_context_tokens),
            max_escalations=_least(self.max_escalations, other.max_escalations),
            timeout_ms=_least(self.timeout_ms, *timeouts_ms),
            max_usd=_least(self.max_usd, other.max_usd),
        )


N = TypeVar("N", int, float)


def _least(*limits: N | None) -> N | None:
    return min((limit for limit in limits if limit is not None), default=None)


class Task(Struct, frozen=True, omit_defaults=True):
    """A task of a kind (`type`) with its `inputs` (JSON).

    `labels` are the caller's own ids and texts by name; they are passed on unchanged to every agent that the run calls.
    `traceparent` is the caller's trace. `parts`: the content of a child's message that is not plain text.

    Example:
        >>> @runyard.agent(task_type="PRICE")
        ... async def pricer(ctx: runyard.Context) -> str:
        ...     task: runyard.Task | None = ctx.task
        ...     return "a message" if task is None else f"{task.type} of {task.inputs['item']}"
        >>> run_agent_sync(pricer, inputs={"item": "tea"}).text
        'PRICE of tea'
    """

    type: str
    inputs: dict[str, Any] = {}
    labels: dict[str, str] = {}
    budget: Budget = Budget()
    traceparent: str | None = None
    parts: list[Part] = []

    @property
    def text(self) -> str:
        """Return the task as a message: its only input, if that is a text, else all inputs as JSON.

        Example:
            >>> runyard.Task("PRICE", {"item": "tea"}).text
            'tea'
            >>> runyard.Task("PRICE", {"item": "tea", "grams": 100}).text
            '{"item":"tea","grams":100}'
        """
        values = list(self.inputs.values())
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
        return msgspec.json.encode(self.inputs).decode()

    @property
    def files(self) -> list[str]:
        """Return the ids of the files in its parts.

        Example:
            >>> report = runyard.File(id="f1", name="report.txt", type="text/plain", size=8)
            >>> runyard.Task("message", parts=[runyard.TextPart("Read this."), report]).files
            ['f1']
        """
        return [part.id for part in self.parts if isinstance(part, File)]


def message_task(content: StoredContent, budget: Budget) -> Task:
    """Return the task of a child run that answers a message."""
    text, parts = from_json(content)
    return Task("message", {"message": text}, budget=budget, parts=parts)


class RunOptions(Struct, frozen=True, omit_defaults=True):
    """The options of a client for one run, besides its message.

    `instructions` are added to those of the agent. `earlier` are messages that came before, in the format of OpenAI's
    chat API. `max_output_tokens` limits the run like a budget. `echo` is what the face needs to show the request again;
    agents do not get it. With `is_record` the run only records `earlier`: its agent is not called."""

    instructions: str | None = None
    earlier: list[dict[str, Any]] = []
    max_output_tokens: int | None = None
    echo: dict[str, Any] = {}
    is_record: bool = False


def deadline(asked_at: int, task: Task | None) -> int | None:
    """Return the deadline of a run that was requested at `asked_at`, both in milliseconds since 1970; None without a
    timeout."""
    if task is None or task.budget.timeout_ms is None:
        return None
    return asked_at + task.budget.timeout_ms
