"""Announces ready runs to another engine, such as Celery.

Authority: the store says which runs are ready. A wake-up (a run was queued, a claim ended) and a poll both count them
by queue, and the doorbell tops up each queue to that number. So a message that was lost, or a broker that was emptied,
costs at most the poll interval, and repeated rounds do not pile up messages. While more runs are ready than one round
announces, the poll is short, so that the engine does not wait for messages.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from runyard.doorbells import Doorbell
from runyard.errors import RunyardError
from runyard.store import WorkerStore
from runyard.telemetry.logger import get_logger

log = get_logger()

PACE_SECONDS = 0.01
MOST_RUNS = 200  # announced at a time
BUSY_POLL_SECONDS = 0.1  # while there may be more


class Announcer:
    def __init__(
        self, store: WorkerStore, doorbell: Doorbell, *, queue_of: Callable[[str], str], poll_seconds: float | None
    ) -> None:
        """`queue_of` returns the queue of an agent. Without `poll_seconds`, wake-ups are the only cause of a round."""
        self._store = store
        self._doorbell = doorbell
        self._queue_of = queue_of
        self._poll = poll_seconds
        self._wakeup = asyncio.Event()

    def wake(self) -> None:
        """Announce ready runs now, because there may be new ones."""
        self._wakeup.set()

    async def run(self) -> None:
        """Announce until cancelled."""
        has_more = False
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(BUSY_POLL_SECONDS if has_more and self._poll else self._poll):
                    await self._wakeup.wait()
            self._wakeup.clear()
            try:
                has_more = await self.round()
            except RunyardError as error:
                has_more = False
                log.warning("executor.announce_failed", code=error.code)
            await asyncio.sleep(PACE_SECONDS)

    async def round(self) -> bool:
        """Announce the runs that are ready. Return whether there may be more than could be announced."""
        ready = Counter(self._queue_of(run.agent) for run in await self._store.ready_runs(MOST_RUNS))
        if ready:
            self._doorbell.ring(ready)
        return ready.total() == MOST_RUNS

    def close(self) -> None:
        self._doorbell.close()
