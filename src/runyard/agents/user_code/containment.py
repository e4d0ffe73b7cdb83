"""Contain an agent's tasks: an exception in one ends its run, never the event loop that it shares with other runs.

asyncio lets SystemExit and KeyboardInterrupt leave a task and the loop, which would end the process. So every task that
is created during an execution (`current_call.set_current_execution`), including tasks that the agent's own code
creates, gets a coroutine that catches these two. Any other BaseException ends the run as well, even if no code awaits
the task.

The wrapped coroutine also tells the watchdog (`engine/running/watchdog.py`) the run and the deadline of a task.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from types import TracebackType
from typing import Any

from runyard.agents.user_code.current_call import CurrentExecution, current_execution, execution_in
from runyard.agents.user_code.frames import Interrupted, calls_user_code
from runyard.errors import AgentError

_deadline: ContextVar[float | None] = ContextVar("runyard_deadline", default=None)


class Signal(BaseException):
    """Raised by a runner that cannot continue. An agent's `except Exception` does not catch it."""


_PASS = (asyncio.CancelledError, GeneratorExit, Interrupted, Signal)


class Contained(Coroutine[Any, Any, Any]):
    """A coroutine of an agent, wrapped.

    Not an `async def`: cancelling that before it starts would leave the inner coroutine never awaited."""

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], execution: CurrentExecution, deadline: float | None
    ) -> None:
        self._coroutine = coroutine
        self.execution = execution
        self.deadline = deadline

    @calls_user_code
    def send(self, value: Any, /) -> Any:
        try:
            return self._coroutine.send(value)
        except Exception:
            raise
        except BaseException as error:
            self._contain(error)
            raise

    @calls_user_code
    def throw(
        self,
        kind: Any,
        value: BaseException | object = None,
        traceback: TracebackType | None = None,
        /,
    ) -> Any:
        try:
            return self._coroutine.throw(kind if value is None else value)  # type: ignore[arg-type]
        except Exception:
            raise
        except BaseException as error:
            self._contain(error)
            raise

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coroutine, name)  # cr_frame, cr_code and so on, for debuggers and `repr`

    def _contain(self, error: BaseException) -> None:
        """Return if the error may pass unchanged; otherwise fail the run."""
        if isinstance(error, _PASS):
            return
        failure = failure_of(error)
        self.execution.fail(failure)
        if isinstance(error, SystemExit | KeyboardInterrupt):
            raise failure from None


def failure_of(error: BaseException) -> AgentError:
    """Return the error that ends the run of an agent that raised this."""
    if isinstance(error, SystemExit):
        return AgentError("The agent called exit.")
    return AgentError(f"The agent failed with {type(error).__name__}.")


def contain_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Contain the tasks of agents in this loop from now on. Idempotent."""
    before = loop.get_task_factory()
    if not hasattr(before, "contains_agents"):
        loop.set_task_factory(_containing(before))


@contextmanager
def with_deadline(deadline: float) -> Iterator[None]:
    """Give tasks created in this block a deadline, as a time of the event loop."""
    before = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(before)


def _containing(before: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a task factory. It is called for every task of the process, so it does little for tasks that are not of
    an agent."""

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, context: Context | None = None, **more: Any) -> Any:
        execution = current_execution() if context is None else execution_in(context)
        if execution is not None:
            deadline = _deadline.get() if context is None else context.get(_deadline)
            coroutine = Contained(coroutine, execution, deadline)
        if before is not None:
            return before(loop, coroutine, context=context, **more)
        return asyncio.Task(coroutine, loop=loop, context=context, **more)

    factory.contains_agents = True  # type: ignore[attr-defined]
    return factory
