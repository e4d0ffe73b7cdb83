"""Cancels runs that have passed their deadline while a client waits for them.

A worker enforces the deadline of the runs it executes, and approvals expire at the deadline. What remains are runs
that no worker has claimed, or whose worker died. While a client waits for such a run, it is canceled shortly after its
deadline; otherwise the next worker that claims it ends it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from runyard.base.clock import Clock
from runyard.engine.control.cancel import Cancel
from runyard.errors import RunyardError
from runyard.telemetry.logger import get_logger

log = get_logger()

GRACE_SECONDS = 0.5  # for a worker to end the run as timed out


class Deadlines:
    def __init__(self, cancel: Cancel, clock: Clock) -> None:
        self._cancel = cancel
        self._clock = clock

    @contextmanager
    def enforce(self, owner: str, run_id: str, at: int | None) -> Iterator[None]:
        """Inside this context, cancel the run when `at` (milliseconds since 1970) has passed."""
        if at is None:
            yield
            return
        timer = asyncio.create_task(self._cancel_at(owner, run_id, at), name=f"deadline of {run_id}")
        try:
            yield
        finally:
            timer.cancel()

    async def _cancel_at(self, owner: str, run_id: str, at: int) -> None:
        await asyncio.sleep(max(0, at - self._clock.now_ms()) / 1000 + GRACE_SECONDS)
        try:
            await self._cancel(owner, run_id)
        except RunyardError as error:
            log.warning("deadline.cancel_failed", run_id=run_id, code=error.code)
