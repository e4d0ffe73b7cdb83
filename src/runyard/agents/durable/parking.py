"""When a run has nothing left to do but wait for a person, and how its tasks are stopped then.

A call that needs a decision does not return: it hangs in `wait_for` while its neighbours (`asyncio.gather`) go on and
are recorded. When calls hang and none is in flight, `quiet` returns and the runner stops the agent; the next execution
comes back to the same place by replay. Work that an agent does outside of its context is not seen here and may be cut
off: it is done again after the decision, like everything that is not recorded.

After `close` no call of the context does anything, so that a task which refuses to end cannot write to the run.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

# How often a quiet agent may be scheduled before it counts as waiting: between two calls of one branch lie a few turns
# of the event loop, and more where task groups are nested.
_TURNS = 20

# An agent that swallows its cancellation is told again, then left behind.
_TELL_TIMES = 3
_TELL_SECONDS = 1.0


class Parking:
    def __init__(self) -> None:
        self.approvals: list[str] = []
        self.closed = False
        self._in_flight = 0
        self._quiet = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    @contextmanager
    def working(self) -> Iterator[None]:
        """A call is in flight: the run does not park until it has ended and been recorded."""
        self._note_task()
        self._in_flight += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            self._look()

    async def wait_for(self, approval_id: str) -> NoReturn:
        """Hang until the execution is stopped."""
        self._note_task()
        if approval_id not in self.approvals:
            self.approvals.append(approval_id)
        self._look()
        await asyncio.get_running_loop().create_future()
        raise asyncio.CancelledError

    async def quiet(self) -> None:
        """Return when calls hang and nothing is in flight."""
        while True:
            await self._quiet.wait()
            for _ in range(_TURNS):
                await asyncio.sleep(0)
                if not self._quiet.is_set():
                    break
            else:
                return

    async def ended(self, work: Coroutine[Any, Any, T], name: str) -> "asyncio.Task[T] | None":
        """Do the work in a task of its own until it has ended, or (None) until all it does is wait for people. Either
        way nothing of it goes on afterwards."""
        main = asyncio.create_task(work, name=name)
        quiet = asyncio.create_task(self.quiet(), name=f"parking of {name}")
        try:
            await asyncio.wait({main, quiet}, return_when=asyncio.FIRST_COMPLETED)
            return main if main.done() else None
        finally:
            await self.close(main, quiet)

    async def close(self, *tasks: asyncio.Task[Any]) -> None:
        """Stop these tasks and every other one that used the context."""
        self.closed = True
        running = {task for task in (*tasks, *self._tasks) if not task.done()}
        for _ in range(_TELL_TIMES):
            if not running:
                break
            for task in running:
                task.cancel()
            done, running = await asyncio.wait(running, timeout=_TELL_SECONDS)
            for task in done:
                if not task.cancelled():
                    task.exception()  # seen: asyncio need not complain that nobody looked

    def _look(self) -> None:
        if self.approvals and not self._in_flight:
            self._quiet.set()

    def _note_task(self) -> None:
        task = asyncio.current_task()
        if task is not None and task not in self._tasks:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
