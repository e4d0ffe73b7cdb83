"""Parking: detect that a run only waits, and stop its tasks.

A call that waits for an answer does not return: it blocks in `wait_for` while its siblings (`asyncio.gather`)
continue and are recorded. When calls are blocked and none is in flight, `run_until_parked` stops the agent. The next
execution reaches the same place by replay. Work that an agent does outside its context is not tracked here: it may be
cut off, and is done again after the answer like everything that is not recorded.

After `close`, calls of the context have no effect, so a task that refuses to end cannot write to the run.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

# Event loop turns without a call in flight before the agent counts as waiting. Between two calls of one branch there
# are a few turns, and more with nested task groups.
_TURNS = 20

# A task that swallows its cancellation is cancelled again, then abandoned.
_CANCEL_TIMES = 3
_CANCEL_SECONDS = 1.0


class Parking:
    def __init__(self) -> None:
        self.waits: list[str] = []
        self.closed = False
        self._in_flight = 0
        self._quiet = asyncio.Event()
        self._is_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # the work ended or parked
        self._watch: asyncio.Task[None] | None = None  # begins with the first wait: most runs have none
        self._tasks: set[asyncio.Task[Any]] = set()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Mark a call as in flight: the run does not park until the call has ended and is recorded."""
        self._track_task()
        self._in_flight += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            self._check_quiet()

    async def wait_for(self, wait_id: str) -> NoReturn:
        """Block until the execution is stopped."""
        self._track_task()
        if wait_id not in self.waits:
            self.waits.append(wait_id)
        if self._watch is None:
            self._watch = asyncio.create_task(self._park_when_quiet(), name=f"parking for {wait_id}")
        self._check_quiet()
        await asyncio.get_running_loop().create_future()
        raise asyncio.CancelledError

    async def _park_when_quiet(self) -> None:
        """Park when calls wait and none is in flight."""
        while True:
            await self._quiet.wait()
            for _ in range(_TURNS):
                await asyncio.sleep(0)
                if not self._quiet.is_set():
                    break
            else:
                self._end_wait()
                return

    def _end_wait(self, _: object = None) -> None:
        if not self._is_over.done():
            self._is_over.set_result(None)

    async def run_until_parked(self, work: Coroutine[Any, Any, T], name: str) -> "asyncio.Task[T] | None":
        """Run the work in its own task. Return the task when it has ended, or None when it only waits.

        In both cases no task of the work is running afterwards."""
        main = asyncio.create_task(work, name=name)
        main.add_done_callback(self._end_wait)
        try:
            await self._is_over
            return main if main.done() else None
        finally:
            await self.close(main, *([] if self._watch is None else [self._watch]))

    async def close(self, *tasks: asyncio.Task[Any]) -> None:
        """Cancel these tasks and every other task that used the context."""
        self.closed = True
        running = {task for task in (*tasks, *self._tasks) if not task.done()}
        for _ in range(_CANCEL_TIMES):
            if not running:
                break
            for task in running:
                task.cancel()
            done, running = await asyncio.wait(running, timeout=_CANCEL_SECONDS)
            for task in done:
                if not task.cancelled():
                    task.exception()  # retrieved, so that asyncio does not log it as never retrieved

    def _check_quiet(self) -> None:
        if self.waits and not self._in_flight:
            self._quiet.set()

    def _track_task(self) -> None:
        task = asyncio.current_task()
        if task is not None and task not in self._tasks:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
