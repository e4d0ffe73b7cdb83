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
        """The id of the run."""
        return self._execution.run.id

    @property
    def task(self) -> Task | None:
        """The task that caused the run, or None if a message caused it."""
        return self._execution.state.task

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the task. Empty if no task caused the run."""
        return {} if self.task is None else self.task.inputs

    @property
    def attempt(self) -> int:
        """How often the run was started since its last recorded result: 1 the first time."""
        return self._execution.run.attempts

    def cancelled(self) -> bool:
        """Return whether a cancel was requested. Every other call of the context then ends the function."""
        return self._execution.cancelled

    def _go_on(self) -> None:
        if get_ident() != self._thread_id:
            raise WrongThread
        if self._parking.closed:
            raise asyncio.CancelledError
        if self._execution.cancelled:
            raise Canceled
