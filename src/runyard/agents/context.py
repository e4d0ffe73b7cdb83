"""What an agent function gets: the message, a way to write, and calls that a crash does not repeat.

After a crash or a wait the function is called again from the top; a finished step or tool is then not called again, its
caller gets the same JSON value or the same error, and text that is in the log is not written again (`replay.py`,
`recorded.py`). So what an agent decides may depend on its message, its history and its results, not on time or chance.

Limits: results are JSON; arguments of a step that are not JSON are compared by type only; steps and tools do not nest,
but may write text if they get the context as an argument or close over it (`reach.py`); `search` is not recorded, so
call it inside a step or a tool.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import get_ident
from typing import Any, ClassVar, get_args

import msgspec

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.remote import TROUBLES, failure, flat
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.reach import reaches
from runyard.agents.durable.recorded import RecordedCalls
from runyard.agents.durable.redaction_buffer import RedactionBuffer
from runyard.agents.durable.replay import Replay
from runyard.agents.execution import Canceled, Execution
from runyard.agents.tools.tool import Effects, Tool
from runyard.contract.result import Result
from runyard.domain.events import ModelThinking, Trace, clean
from runyard.domain.task import Task
from runyard.domain.thread import Message
from runyard.errors import AgentError, Invalid, RemoteFailed, ToolFailed, Unavailable, WriteRefused, WrongThread
from runyard.store import Hit


class Context:
    """Made by the runner, one per execution. Every call but `cancelled` ends at once when the run is to be canceled."""

    runyard_injects: ClassVar[str] = "context"  # how `tools` knows a parameter of this type

    def __init__(self, agent: Agent, execution: Execution, parking: Parking, replay: Replay | None = None) -> None:
        self._execution = execution
        self._thread_id = get_ident()
        self._parking = parking
        self._replay = replay or Replay(execution.state)
        self._written: list[str] = []
        self._tools = {tool.name: tool for tool in agent.tools}
        self._calls = RecordedCalls(
            execution, self._replay, parking, agent.on_unknown, self._written.append, self.settle
        )
        self._held: RedactionBuffer | None = None if execution.redactor is None else RedactionBuffer(execution.redactor)

    # --- what it is about ------------------------------------------------------------------------------------------

    @property
    def message(self) -> Message:
        message = self._execution.message
        if message is None:
            raise AgentError("This run was not caused by a message.")
        return message

    @property
    def task(self) -> Task | None:
        """What was asked for, if it was a task and not a message in a thread."""
        return self._execution.state.task

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the task; empty if there is none."""
        return {} if self.task is None else self.task.inputs

    @property
    def run_id(self) -> str:
        return self._execution.run.id

    @property
    def thread_id(self) -> str | None:
        return self._execution.run.thread_id

    @property
    def attempt(self) -> int:
        """How often this run was begun since it last got anywhere: 1 the first time."""
        return self._execution.run.attempts

    def idempotency_key(self, label: str) -> str:
        """An idempotency key: the same after a crash, another one for every run."""
        return f"{self.run_id}:{label}"

    def cancelled(self) -> bool:
        return self._execution.cancelled

    async def history(self, limit: int = 20) -> Sequence[Message]:
        """What was said before on this branch of the thread: the last `limit` exchanges, oldest first."""
        self._go_on()
        with self._parking.working():
            return await self._execution.history(limit)

    async def search(self, collection: str, query: str, limit: int = 5) -> Sequence[Hit]:
        """The documents of a collection that hold any of the query's words, best first."""
        self._go_on()
        with self._parking.working():
            return await self._execution.search(collection, query, limit)

    # --- writing ---------------------------------------------------------------------------------------------------

    async def token(self, text: str) -> None:
        """Write a piece of the answer. Does not wait, unless far more was written than the database has taken."""
        if not isinstance(text, str):
            raise TypeError(f"a token is text, not {type(text).__name__}")
        self._go_on()
        text = clean(text)
        if self._say(text if self._held is None else self._held.text(text)) and self._execution.congested:
            await self._drain()

    def _say(self, text: str) -> bool:
        """Write it, unless it is in the log; whether there was anything to write."""
        self._written.append(text)
        fresh = self._replay.text.fresh(text, self._replay.live)
        if fresh:
            self._execution.token(fresh)
        return bool(fresh)

    async def thinking(self, text: str) -> None:
        """Write a piece of reasoning, for display."""
        if not isinstance(text, str):
            raise TypeError(f"thinking is text, not {type(text).__name__}")
        self._go_on()
        text = clean(text)
        if self._think(text if self._held is None else self._held.thinking(text)) and self._execution.congested:
            await self._drain()

    def _think(self, text: str) -> bool:
        fresh = self._replay.thinking.fresh(text, self._replay.live)
        if fresh:
            self._execution.emit(ModelThinking(fresh))
        return bool(fresh)

    def settle(self) -> None:
        """Write what is held back because it might become sensitive: here a piece of text ends. If the log takes no
        more, the next commit says so."""
        if self._held is not None:
            text, thinking = self._held.rest()
            with suppress(WriteRefused, Unavailable):
                self._say(text)
                self._think(thinking)

    def _pause(self) -> None:
        """The same before a call; but what another task is writing just now is left to it."""
        if self._held is not None and self._held.is_mine:
            self.settle()

    async def trace(self, fn_name: str) -> None:
        """Leave a mark for whoever debugs this run: a stable name, never content."""
        self._go_on()
        if self._replay.live:
            self._execution.emit(Trace(clean(fn_name)))
            if self._execution.congested:
                await self._drain()

    def written(self) -> str:
        """All tokens so far, those of earlier attempts included."""
        return "".join(self._written)

    # --- recorded calls --------------------------------------------------------------------------------------------

    async def step(
        self, name: str, fn: Callable[..., Any], /, *args: Any, effects: Effects = "idempotent", **kwargs: Any
    ) -> Any:
        """Call `fn` and record its result (JSON); after a crash the record is used instead.

        A sync function runs in a thread. What it raises becomes StepFailed. A step that had begun when its worker died
        is called again, unless it is declared `effects="once"`: then the agent's `on_unknown` decides."""
        self._go_on()
        if not name:
            raise Invalid("A step needs a name.")
        if effects not in get_args(Effects):
            raise Invalid(f"The effects of a step are one of {', '.join(get_args(Effects))}.")
        may_write = reaches(partial(fn, *args, **kwargs), self)
        self._pause()
        return await self._calls.step(clean(name), fn, args, kwargs, effects, may_write)

    async def call(self, tool: Tool[..., Any] | str, /, **given: Any) -> Any:
        """Call a tool, after a person agreed if it demands that, and record its output (JSON).

        Raises Rejected if they said no, ToolFailed if the tool raised or took too long, UnknownOutcome if a `once` tool
        had begun when its worker died and is not to be called again."""
        self._go_on()
        found = self._tools.get(tool) if isinstance(tool, str) else tool
        if not isinstance(found, Tool):
            raise Invalid(
                "There is no such tool: decorate a function with @runyard.tool, or list it in the agent's tools."
            )
        self._pause()
        return await self._calls.tool(found, given, self)

    async def call_agent(self, agent: Agent, /, **inputs: Any) -> dict[str, Any]:
        """Have a remote agent do its task with these inputs, and record what it answers: its outputs, with `grounding`,
        `warnings` and `artifacts` among them. RemoteFailed if there are none."""
        self._go_on()
        if agent.remote is None:
            raise Invalid("Only a remote agent can be called; make one with runyard.remote.")
        try:
            answer = await self._calls.tool(agent.remote.tool, {"inputs": inputs}, self)
        except ToolFailed as error:
            raise TROUBLES.get(error.error, RemoteFailed)() from error
        found = msgspec.convert(answer, Result)
        if found.error is not None:
            raise failure(found.error)
        return flat(found)

    async def request_approval(self, question: str, /, **details: Any) -> bool:
        """Ask a person. The run leaves its worker until they answer, be it a month."""
        self._go_on()
        self._pause()
        return await self._calls.approve(question, details)

    # --- inside ----------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        if get_ident() != self._thread_id:
            raise WrongThread
        if self._parking.closed:
            raise asyncio.CancelledError
        if self._execution.cancelled:
            raise Canceled

    async def _drain(self) -> None:
        with self._parking.working():
            await self._execution.drain()
