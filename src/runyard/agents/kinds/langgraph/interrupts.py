"""Interrupts of a graph as questions to a person, and their answers.

`interrupt(value)` is a wait of the kind `question`. LangGraph matches answers by the task and their
order, and some versions give all interrupts of a task the same id. So the key of a wait is the id and a number:
`4f1a...#2` is the second interrupt of its task.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.types import Interrupt

from runyard.agents.durable.replay import Replay
from runyard.agents.durable.waits import WaitRequest, Waits
from runyard.agents.json_values import plain
from runyard.agents.kinds.langgraph.checkpointer import INTERRUPT, Written
from runyard.base.json_schema import check_schema
from runyard.domain.events import clean
from runyard.errors import AgentError, AnswerTimedOut, Invalid

NAME = "interrupt"
PROMPTS = ("question", "prompt", "message", "description")  # fields of a value that may hold the question
NO_PROMPT = "The agent needs an answer to continue."


class Interrupts:
    """The interrupts of one execution."""

    def __init__(self, replay: Replay, waits: Waits) -> None:
        self._replay = replay
        self._waits = waits
        self._numbers: dict[str, int] = {}  # of each interrupt in its task
        self._tasks: dict[str, str] = {}  # the task of each interrupt
        self._given: dict[str, int] = {}  # how many answers each task has
        self._delivered: set[str] = set()
        self._asked_keys: set[str] = set()

    def note(self, written: Written) -> list[Interrupt]:
        """Note the writes of a task. Return the interrupts among them."""
        found = [each for channel, value in written.writes if channel == INTERRUPT for each in _interrupts(value)]
        self._given[written.task_id] = written.answers
        for interrupt in found:
            # the graph around the task repeats its interrupts later
            if self._tasks.setdefault(interrupt.id, written.task_id) == written.task_id:
                self._numbers[interrupt.id] = written.answers + 1
        return found

    def still_open(self, interrupts: Sequence[Interrupt]) -> list[Interrupt]:
        """Return the interrupts without those whose task has taken the answer. The graph around it may not know yet."""
        return [each for each in interrupts if self._given.get(self._tasks.get(each.id, ""), 0) < self._number(each)]

    def ask(self, interrupts: Sequence[Interrupt]) -> None:
        """Ask the questions that were not asked yet."""
        for interrupt in interrupts:
            key = self._key(interrupt)
            self._asked_keys.add(key)
            if not self._waits.is_asked(key, "question"):
                self._waits.request(key, _wait_request(interrupt))

    def pending(self) -> list[str]:
        """Return the ids of the waits for questions that have no answer."""
        found = [self._waits.pending_id(key, "question") for key in sorted(self._asked_keys)]
        return [wait_id for wait_id in found if wait_id is not None]

    def answers(self, interrupts: Sequence[Interrupt]) -> dict[str, Any]:
        """Return the answers for a graph that resumes, by the id of the interrupt."""
        found = {}
        for interrupt in interrupts:
            key = self._key(interrupt)
            known = self._replay.wait(key, "question")
            if known is None or known[1].answered_seq is None:
                continue
            if known[1].state == "expired":
                raise AnswerTimedOut
            if key in self._delivered:
                raise AgentError("The graph did not take the answer to its interrupt.")
            self._delivered.add(key)
            found[interrupt.id] = known[1].value
        return found

    async def block(self, interrupts: Sequence[Interrupt]) -> None:
        """Wait for an answer to any of the questions. This parks the run."""
        self.ask(interrupts)
        await asyncio.gather(*(self._waits.block(self._key(each), "question") for each in interrupts))

    def _key(self, interrupt: Interrupt) -> str:
        return f"{interrupt.id}#{self._number(interrupt)}"

    def _number(self, interrupt: Interrupt) -> int:
        return self._numbers.get(interrupt.id, 1)


def _wait_request(interrupt: Interrupt) -> WaitRequest:
    value = interrupt.value
    schema = _schema(interrupt)
    text = value if isinstance(value, str) else _first_text(value)
    return WaitRequest(
        kind="question",
        name=NAME,
        prompt=clean(text or NO_PROMPT),
        input=None if isinstance(value, str) else _as_json(value),
        schema=schema,
    )


def _schema(interrupt: Interrupt) -> dict[str, Any] | None:
    """Return the schema of the answer: `response_schema` of the interrupt, or `schema` of its value. None: any JSON."""
    value = interrupt.value
    schema = getattr(interrupt, "response_schema", None) or (value.get("schema") if isinstance(value, dict) else None)
    if schema is None:
        return None
    if not isinstance(schema, dict):
        raise Invalid("The schema of an interrupt is a JSON Schema: a dict.")
    check_schema(schema)
    return dict(plain(schema))


def _interrupts(value: Any) -> list[Interrupt]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _first_text(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((value[field] for field in PROMPTS if isinstance(value.get(field), str)), None)


def _as_json(value: Any) -> Any:
    try:
        return plain(value)
    except (TypeError, ValueError):
        return clean(str(value))
