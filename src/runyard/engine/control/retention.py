"""Drops what is older than it may be: a batch at a time, with rests between, so that nobody who works notices. Runs
with their logs, then what was said in conversations, then the feed.

Every process does it, with or without a worker; none leads. What was dropped is answered as gone, with what its
tombstone says, for as long again as it was kept; then only that it is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from runyard.clock import Clock
from runyard.errors import RunyardError
from runyard.store import Store, Swept

log = structlog.get_logger()

DAY_MS = 24 * 3600 * 1000
SWEEP_SECONDS = 3600.0
FIRST_SECONDS = 10.0  # after the start, when there is more to do
BATCH = 200
A_MOMENT_MS = 60_000  # between words and the runs that they set off: these are older than the horizon too
REST_SECONDS = 0.1


class Retention:
    def __init__(self, store: Store, clock: Clock, days: float) -> None:
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
        """Drop all that is old enough now; how many runs."""
        horizon = self._clock.now_ms() - self._ms
        dropped = await _all_of(self._store.sweep, horizon)
        words = await _all_of(self._store.sweep_messages, horizon - A_MOMENT_MS)
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


async def _all_of(sweep: Callable[[int, str | None, int], Awaitable[Swept]], horizon: int) -> int:
    """Batch after batch, with rests."""
    dropped, cursor = 0, None
    while True:
        swept = await sweep(horizon, cursor, BATCH)
        dropped += swept.dropped
        if swept.cursor is None:
            return dropped
        cursor = swept.cursor
        await asyncio.sleep(REST_SECONDS)
