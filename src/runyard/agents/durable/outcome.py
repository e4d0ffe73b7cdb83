"""Run an agent's task, and turn its end into a result, Parked, Canceled, or an error without content."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Canceled, Execution, Parked
from runyard.errors import AgentError, RunyardError, Unavailable, WriteRefused

T = TypeVar("T")


async def run_to_end(work: Coroutine[Any, Any, T], parking: Parking, execution: Execution) -> T:
    """Run the work in a separate task and return its result. Raises Parked if it only waits."""
    main = await parking.run_until_parked(work, f"agent:{execution.run.id}")
    if main is None:
        raise Parked(parking.waits)
    return outcome(main, execution)


def outcome(main: "asyncio.Task[T]", execution: Execution) -> T:
    """Return the task's result. If a cancel was requested, raise Canceled however the task ended."""
    if main.cancelled():
        if execution.cancelled:
            raise Canceled
        raise AgentError("The agent cancelled itself.")
    error = main.exception()
    if error is None:
        return main.result()
    if execution.cancelled:
        raise Canceled from error
    raise _without_content(error)


def _without_content(error: BaseException) -> RunyardError:
    """Return an error whose message holds no content. Errors of the engine are returned unchanged."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, AgentError | WriteRefused | Unavailable):
        return error
    said = error.message if isinstance(error, RunyardError) else f"The agent failed with {type(error).__name__}."
    failure = AgentError(said)
    failure.__cause__ = error
    return failure
