"""Deletes what is older than the retention time: runs with their logs, then messages of conversations, then the feed.

It works in small batches with pauses, so that it does not slow down other work. Every process does it; no process
leads. A deleted run leaves a tombstone for the same time again: clients get 410 with what the tombstone holds, later
410 without it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from runyard.base.clock import Clock
from runyard.errors import RunyardError
from runyard.store import RetentionStore, Swept
from runyard.telemetry.logger import get_logger

log = get_logger()

DAY_MS = 24 * 3600 * 1000
SWEEP_SECONDS = 3600.0
FIRST_SECONDS = 10.0  # after the start of the process
BATCH = 200
MESSAGE_MARGIN_MS = 60_000  # messages are deleted this much later than runs, so after the runs that they caused
REST_SECONDS = 0.1


class Retention:
    def __init__(self, store: RetentionStore, clock: Clock, days: float) -> None:
        self._store = store
        self._clock = clock
        self._ms = int(days * DAY_MS)

    async def run(self) -> None:
        """Sweep until cancelled."""
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            try:
                await self.sweep()
            except RunyardError as error:
                log.warning("retention.sweep_failed", code=error.code)
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> int:
        """Delete everything that is old enough now. Return the number of deleted runs."""
        horizon = self._clock.now_ms() - self._ms
        dropped = await _in_batches(self._store.sweep, horizon)
        words = await _in_batches(self._store.sweep_messages, horizon - MESSAGE_MARGIN_MS)
        entries = await self._drop_feed(horizon)
        parts = await self._store.drop_logs(horizon, horizon - self._ms)
        if dropped or words or entries or parts:
            log.info("retention.swept", runs=dropped, messages=words, entries=entries, parts=parts)
        return dropped

    async def _drop_feed(self, horizon: int) -> int:
        dropped = 0
        while batch := await self._store.drop_feed(horizon, BATCH):
            dropped += batch
            await asyncio.sleep(REST_SECONDS)
        return dropped


async def _in_batches(sweep: Callable[[int, str | None, int], Awaitable[Swept]], horizon: int) -> int:
    """Delete batch after batch, with pauses. Return how many rows were deleted."""
    dropped, cursor = 0, None
    while True:
        swept = await sweep(horizon, cursor, BATCH)
        dropped += swept.dropped
        if swept.cursor is None:
            return dropped
        cursor = swept.cursor
        await asyncio.sleep(REST_SECONDS)
