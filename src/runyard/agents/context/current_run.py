"""The run that a function of the user works on: what the contexts of agents and of nodes have in common."""

import asyncio
from threading import get_ident
from typing import Any

from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Canceled, Execution
from runyard.domain.task import Task
from runyard.errors import WrongThread


class CurrentRun:
    """The facts about a run that a context shows. Runners make it, in the thread that runs the function."""

    def __init__(self, execution: Execution, parking: Parking) -> None:
        self._execution = execution
        self._parking = parking
        self._thread_id = get_ident()

    @property
    def run_id(self) -> str:
        """The id of the run.

        Example:
            >>> @runyard.agent
            ... async def where(ctx: runyard.Context) -> runyard.Output:
            ...     return runyard.Output(outputs={"run": ctx.run_id})
            >>> result = run_agent_sync(where)
            >>> result.outputs["run"] == result.events[0].run_id
            True
        """
        return self._execution.run.id

    @property
    def task(self) -> Task | None:
        """The task that caused the run, or None if a message caused it.

        Example:
            >>> @runyard.agent(task_type="PRICE")
            ... async def pricer(ctx: runyard.Context) -> str:
            ...     return "no task" if ctx.task is None else ctx.task.type
            >>> run_agent_sync(pricer, inputs={"item": "tea"}).text
            'PRICE'
        """
        return self._execution.state.task

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the task. Empty if no task caused the run.

        Example:
            >>> @runyard.agent
            ... async def adder(ctx: runyard.Context) -> runyard.Output:
            ...     return runyard.Output(outputs={"sum": ctx.inputs["a"] + ctx.inputs["b"]})
            >>> run_agent_sync(adder, inputs={"a": 1, "b": 2}).outputs
            {'sum': 3}
        """
        return {} if self.task is None else self.task.inputs

    @property
    def attempt(self) -> int:
        """How often the run was started since its last recorded result: 1 the first time.

        Example:
            >>> @runyard.agent
            ... async def patient(ctx: runyard.Context) -> str:
            ...     return "first attempt" if ctx.attempt == 1 else "started again"
            >>> run_agent_sync(patient, "Hi").text
            'first attempt'
        """
        return self._execution.run.attempts

    def cancelled(self) -> bool:
        """Return whether a cancel was requested. Every other call of the context then ends the function.

        Example:
            >>> @runyard.agent
            ... async def worker(ctx: runyard.Context) -> str:
            ...     for part in range(3):
            ...         if ctx.cancelled():
            ...             break  # tidy up here
            ...         await ctx.token(f"{part} ")
            ...     return ctx.written()
            >>> run_agent_sync(worker, "Count.").text
            '0 1 2 '
        """
        return self._execution.cancelled

    def _go_on(self) -> None:
        if get_ident() != self._thread_id:
            raise WrongThread
        if self._parking.closed:
            raise asyncio.CancelledError
        if self._execution.cancelled:
            raise Canceled
