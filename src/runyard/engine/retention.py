"""Drops what is older than it may be: a batch at a time, with rests between, so that nobody who works notices.

Every process with a worker does it; none leads. What was dropped is answered as gone, with what its tombstone says, for
as long again as it was kept; then only that it is gone.
"""

import asyncio

import structlog

from runyard.clock import Clock
from runyard.errors import RunyardError
from runyard.store import Store

log = structlog.get_logger()

DAY_MS = 24 * 3600 * 1000
SWEEP_SECONDS = 3600.0
FIRST_SECONDS = 10.0  # after the start, when there is more to do
BATCH = 200
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
                log.warning("retention.failed", code=error.code)
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> int:
        """Drop all that is old enough now; how many runs."""
        horizon = self._clock.now_ms() - self._ms
        dropped, cursor = 0, None
        while True:
            swept = await self._store.sweep(horizon, cursor, BATCH)
            dropped += swept.dropped
            if swept.cursor is None:
                break
            cursor = swept.cursor
            await asyncio.sleep(REST_SECONDS)
        parts = await self._store.drop_logs(horizon, horizon - self._ms)
        if dropped or parts:
            log.info("retention.swept", runs=dropped, parts=parts)
        return dropped
