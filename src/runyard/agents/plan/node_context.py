"""What a node gets: what the nodes before it found, a key for the outside world, and a way to leave marks.

Results are as the log has them (JSON after a round trip), so that a node sees the same values whether the nodes before
it were done just now or before a crash. A node leaves no other trace in the log than its marks and its result.
"""

import asyncio
import re
from collections.abc import Mapping
from threading import get_ident
from types import MappingProxyType
from typing import Any

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.remote import failure, flat
from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Canceled, Execution
from runyard.domain.events import Trace
from runyard.domain.task import Task
from runyard.domain.thread import Message
from runyard.errors import Invalid, WrongThread

_MARK = re.compile(r"[A-Za-z0-9_.:-]{1,128}", re.ASCII)


class NodeContext:
    """Made by the runner, one per node. `results`: what the earlier nodes returned, by name."""

    def __init__(self, node: str, execution: Execution, parking: Parking, results: Mapping[str, Any]) -> None:
        self.node = node
        self.results: Mapping[str, Any] = MappingProxyType(dict(results))
        self._execution = execution
        self._thread_id = get_ident()
        self._parking = parking
        self._asked = 0

    @property
    def run_id(self) -> str:
        return self._execution.run.id

    @property
    def message(self) -> Message | None:
        """The message that caused the run, if one did."""
        return self._execution.message

    @property
    def task(self) -> Task | None:
        """What was asked for, if it was a task and not a message in a thread."""
        return self._execution.state.task

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the task; empty if there is none."""
        return {} if self.task is None else self.task.inputs

    @property
    def attempt(self) -> int:
        """How often this run was begun since it last got anywhere: 1 the first time."""
        return self._execution.run.attempts

    def idempotency_key(self, label: str | None = None) -> str:
        """An idempotency key: the same after a crash, another one for every node of every run."""
        return ":".join([self.run_id, self.node] if label is None else [self.run_id, self.node, label])

    def cancelled(self) -> bool:
        return self._execution.cancelled

    async def call_agent(self, agent: Agent, /, **inputs: Any) -> dict[str, Any]:
        """Have a remote agent do its task with these inputs: its outputs, with `grounding`, `warnings` and `artifacts`
        among them. RemoteFailed if there are none. A node that asks twice says so to the service under two keys."""
        self._go_on()
        if agent.remote is None:
            raise Invalid("Only a remote agent can be called; make one with runyard.remote.")
        self._asked += 1
        answer = await agent.remote.ask(inputs, self.idempotency_key(f"{agent.name}#{self._asked}"))
        if answer.error is not None:
            raise failure(answer.error)
        return flat(answer)

    async def trace(self, fn: str) -> None:
        """Leave a mark for whoever watches or debugs this run: a stable name such as `device.check`, never content."""
        self._go_on()
        if not _MARK.fullmatch(fn):
            raise Invalid("A mark has 1 to 128 letters, digits or any of - _ . : and nothing else.")
        self._execution.emit(Trace(fn))
        if self._execution.congested:
            await self._execution.drain()

    def _go_on(self) -> None:
        if get_ident() != self._thread_id:
            raise WrongThread
        if self._parking.closed:
            raise asyncio.CancelledError
        if self._execution.cancelled:
            raise Canceled
