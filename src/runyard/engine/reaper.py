"""Takes runs from workers that died, ends cancels that nobody obeyed, forgets old keys. Every process does it; none
leads."""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from runyard.clock import Clock
from runyard.domain.append import END_OF
from runyard.domain.events import Draft, Drafter, RunCanceled, RunError
from runyard.domain.run import Fate, Run
from runyard.engine.execute import ending
from runyard.engine.tail import Tail
from runyard.errors import RunyardError
from runyard.store import Store
from runyard.telemetry.metrics import Metrics

log = structlog.get_logger()

WORKERS_AT_ONCE = 20
EVENTS_OF_AN_END = 2  # why, and run.finished
KEY_LIFE_MS = 24 * 3600 * 1000
HOUSEKEEPING_SECONDS = 3600.0


class Ender:
    """The last events of runs that no worker ends: `Ending` for the store."""

    def __init__(self, clock: Clock, reason: str) -> None:
        self._draft = Drafter(clock, "api")
        self._reason = reason

    def __call__(self, run: Run, fate: Fate) -> Sequence[Draft]:
        finish = END_OF[fate]
        if fate == "cancel":
            return ending(self._draft, RunCanceled(self._reason), finish)
        return ending(self._draft, RunError(finish.error_code or "", finish.error or ""), finish)


class Reaper:
    def __init__(
        self, store: Store, tail: Tail, clock: Clock, max_attempts: int, ring: Callable[[], None], metrics: Metrics
    ) -> None:
        self._store = store
        self._tail = tail
        self._clock = clock
        self._max_attempts = max_attempts
        self._ring = ring
        self._metrics = metrics
        self._ending = Ender(clock, "not stopped in time")
        self._housekept = clock.monotonic()

    async def run(self, interval: float) -> None:
        """Reap until cancelled; the first time at once, because a restart should resume at once."""
        while True:
            try:
                await self.tick()
            except RunyardError as error:
                log.warning("reaper.failed", code=error.code)
            await asyncio.sleep(interval)

    async def tick(self) -> None:
        for reaped in await self._store.reap(WORKERS_AT_ONCE, self._max_attempts, self._ending):
            log.warning("run.reaped", run_id=reaped.run_id, fate=reaped.fate)
            self._tail.stale(reaped.run_id)
            if reaped.fate != "requeue":
                self._metrics.events_persisted(EVENTS_OF_AN_END)
                self._metrics.runs_finished(END_OF[reaped.fate].status)
            self._ring()
        if self._clock.monotonic() - self._housekept >= HOUSEKEEPING_SECONDS:
            self._housekept = self._clock.monotonic()
            await self._store.forget_keys(KEY_LIFE_MS)
            await self._store.tend()
