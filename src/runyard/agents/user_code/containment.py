"""Tasks of an agent, contained: what they raise ends their run, never the event loop that they share with others.

asyncio lets SystemExit and KeyboardInterrupt out of a task and out of the loop, which would end the process. So every
task that is created while an agent is at work (`calls.at_work`), also one that the agent's own code creates, is given
a coroutine that takes these two. Anything else that is no Exception ends the run as well, even if no code awaits the
task.

The wrapped coroutine also tells the watchdog (`engine/running/watchdog.py`) which run a task belongs to, and until when
it may take.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from types import TracebackType
from typing import Any

from runyard.agents.user_code.current_call import Work, current_work, work_in
from runyard.agents.user_code.frames import Interrupted, calls_user_code
from runyard.errors import AgentError

_deadline: ContextVar[float | None] = ContextVar("runyard_deadline", default=None)


class Signal(BaseException):
    """How a runner says that it cannot go on. Passes through an agent's `except Exception`."""


_PASS = (asyncio.CancelledError, GeneratorExit, Interrupted, Signal)


class Contained(Coroutine[Any, Any, Any]):
    """A coroutine of an agent. Not an `async def` around it: one that is cancelled before it begins must not leave
    a coroutine behind that was never awaited."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], work: Work, deadline: float | None) -> None:
        self._coroutine = coroutine
        self.work = work
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
        return getattr(self._coroutine, name)  # cr_frame, cr_code and so on: what debuggers and `repr` look at

    def _contain(self, error: BaseException) -> None:
        """Return if the error may go on as it is."""
        if isinstance(error, _PASS):
            return
        failure = failure_of(error)
        self.work.fail(failure)
        if isinstance(error, SystemExit | KeyboardInterrupt):
            raise failure from None


def failure_of(error: BaseException) -> AgentError:
    if isinstance(error, SystemExit):
        return AgentError("The agent called exit.")
    return AgentError(f"The agent failed with {type(error).__name__}.")


def contain_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """From now on contain the tasks of agents in this loop. Doing it again changes nothing."""
    before = loop.get_task_factory()
    if isinstance(before, _Factory):
        return
    loop.set_task_factory(_Factory(before))


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Tasks that are created in here should end by then, a time of the event loop."""
    before = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(before)


class _Factory:
    def __init__(self, before: Callable[..., Any] | None) -> None:
        self._make = before or _task

    def __call__(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        context: Context | None = options.get("context")
        work = current_work() if context is None else work_in(context)
        if work is not None:
            deadline = _deadline.get() if context is None else context.get(_deadline)
            coroutine = Contained(coroutine, work, deadline)
        return self._make(loop, coroutine, **options)


def _task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
    return asyncio.Task(coroutine, loop=loop, **options)
