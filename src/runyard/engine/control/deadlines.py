"""Runs that somebody waits for and that have a deadline: canceled if nobody has ended them by then.

The worker that has a run keeps its deadline by itself, and what a waiting run asks expires with it. Left are runs that
no worker has taken, or whose worker died: as long as somebody waits for one, it is canceled shortly after its time; if
nobody does, the next worker that takes it ends it. What is canceled past its deadline is late, and faces say so.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from runyard.clock import Clock
from runyard.engine.control.cancel import Cancel
from runyard.errors import RunyardError

log = structlog.get_logger()

GRACE_SECONDS = 0.5  # for a worker to end it with the right words


class Deadlines:
    def __init__(self, cancel: Cancel, clock: Clock) -> None:
        self._cancel = cancel
        self._clock = clock

    @contextmanager
    def kept(self, owner: str, run_id: str, at: int | None) -> Iterator[None]:
        """While in here, the run does not live longer than until `at` (milliseconds since 1970)."""
        if at is None:
            yield
            return
        watch = asyncio.create_task(self._end(owner, run_id, at), name=f"deadline of {run_id}")
        try:
            yield
        finally:
            watch.cancel()

    async def _end(self, owner: str, run_id: str, at: int) -> None:
        await asyncio.sleep(max(0, at - self._clock.now_ms()) / 1000 + GRACE_SECONDS)
        try:
            await self._cancel(owner, run_id)
        except RunyardError as error:
            log.warning("deadline.cancel_failed", run_id=run_id, code=error.code)
