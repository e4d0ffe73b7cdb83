"""The waits that an agent function asks for: questions, child runs, timers and events.

Each has a key like a step. After a crash the function asks again in the same order, and gets the recorded answer or
waits for the same one."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.durable.child_runs import ChildRuns, child_output
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.waits import WaitRequest, Waits
from runyard.agents.execution import Execution
from runyard.agents.json_values import plain
from runyard.base.json_schema import check_schema, convert, schema_of
from runyard.domain.content.parts import Content, as_json
from runyard.domain.events import cleaned
from runyard.domain.task import Budget
from runyard.domain.wait import event_target
from runyard.errors import AnswerTimedOut, Invalid


class RecordedWaits:
    """The waits of one execution. `next_key` makes the key of a call; `as_stored` redacts values that are compared with
    the log."""

    def __init__(
        self,
        execution: Execution,
        parking: Parking,
        waits: Waits,
        next_key: Callable[[str], str],
        as_stored: Callable[[Any], Any],
    ) -> None:
        self._execution = execution
        self._parking = parking
        self._waits = waits
        self._children = ChildRuns(execution, parking, waits)
        self._next_key = next_key
        self._as_stored = as_stored

    async def ask(self, prompt: str, answer: Any, seconds: float | None, default: Any) -> Any:
        """Ask a person for a value of a type or JSON Schema, and return it."""
        schema = schema_of(answer)
        check_schema(schema)
        wanted = WaitRequest(
            kind="question",
            name="ask",
            prompt=self._as_stored(prompt),
            schema=schema,
            default=default if default is UNSET else plain(default),
            expires_at=self._deadline(seconds),
        )
        found = await self._waits.value(self._next_key("ask"), wanted)
        if found.state == "expired":
            raise AnswerTimedOut
        return convert(answer, found.value)

    async def sleep(self, seconds: float) -> None:
        wanted = WaitRequest(kind="timer", name="sleep", expires_at=self._deadline(seconds))
        await self._waits.value(self._next_key("sleep"), wanted)

    async def wait_for(self, name: str, key: str | None, seconds: float | None, default: Any) -> Any:
        """Wait for an event that a machine delivers, and return its data."""
        wanted = WaitRequest(
            kind="event",
            name=name,
            input=self._as_stored(key),
            default=default if default is UNSET else plain(default),
            expires_at=self._deadline(seconds),
            target=event_target(self._execution.run.owner, name, key),
        )
        own = self._next_key(name)
        if self._waits.known(own, wanted) is None:
            with self._parking.working():
                self._waits.request(own, wanted)
                await self._execution.commit()
                await self._execution.match_event(wanted.target or "")
        found = await self._waits.block(own, "event")
        if found.state == "expired":
            raise AnswerTimedOut
        return found.value

    async def run(self, agent: Agent | str, content: Content, seconds: float | None, budget: Budget) -> Output:
        """Run another agent as a child run and return its output."""
        name = agent if isinstance(agent, str) else agent.name
        key = self._next_key(f"run {name}")
        stored = as_json(content, lambda value: self._as_stored(cleaned(plain(value))))
        return child_output(await self._children.end_of(key, name, stored, budget, self._deadline(seconds)))

    def _deadline(self, seconds: float | None) -> int | None:
        if seconds is None:
            return None
        if seconds < 0:
            raise Invalid("A time to wait cannot be negative; pass 0 or more seconds.")
        return self._execution.now_ms() + int(seconds * 1000)
