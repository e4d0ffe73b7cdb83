"""Takes runs from workers that died, ends cancels that nobody obeyed, cancels runs that nobody came back to, lets
approvals expire, ends what frozen processes left open, forgets old keys. Every process does it, with or
without a worker; none leads."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from runyard.clock import Clock
from runyard.domain.append import END_OF
from runyard.domain.approval import Approval
from runyard.domain.events import ApprovalDecided, Draft, Drafter, RunCanceled, RunError
from runyard.domain.rate import FORGET_MS
from runyard.domain.run import Fate, Run, Status
from runyard.engine.log.tail import Tail
from runyard.engine.running.run_task import ending
from runyard.errors import RunyardError
from runyard.store import Store
from runyard.telemetry.metrics import Metrics

log = structlog.get_logger()

WORKERS_AT_ONCE = 20
EVENTS_OF_AN_END = 2  # why, and run.finished
KEY_LIFE_MS = 24 * 3600 * 1000
HOUSEKEEPING_SECONDS = 3600.0
DEADLINE_SECONDS = 1.0  # between looks for what is too late
STUCK_SECONDS = 5.0  # between looks for processes that stopped in the middle of a transaction
AT_ONCE = 100


class Every:
    """Due once in so many seconds, however often it is asked."""

    def __init__(self, clock: Clock, seconds: float, at_once: bool = False) -> None:
        self._clock = clock
        self._seconds = seconds
        self._last = clock.monotonic() - (seconds if at_once else 0)

    def is_due(self) -> bool:
        now = self._clock.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True


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
        self,
        store: Store,
        tail: Tail,
        clock: Clock,
        max_attempts: int,
        cancel_seconds: float,
        wake_workers: Callable[[], None],
        stop: Callable[[str], None],
        metrics: Metrics,
        recover: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`recover` sees to runs that wait for a turn that nobody gave them."""
        self._recover = recover
        self._store = store
        self._tail = tail
        self._clock = clock
        self._max_attempts = max_attempts
        self._cancel_ms = int(cancel_seconds * 1000)
        self._wake_workers = wake_workers
        self._metrics = metrics
        self._stop = stop
        self._draft = Drafter(clock, "api")
        self._ending = Ender(clock, "not stopped in time")
        self._left = Ender(clock, "nobody followed it any more")
        self._housekeeping = Every(clock, HOUSEKEEPING_SECONDS)
        self._unsticking = Every(clock, STUCK_SECONDS)

    async def run(self, interval: float) -> None:
        """Reap until cancelled; the first time at once, because a restart should resume at once."""
        reaping = Every(self._clock, interval, at_once=True)
        while True:
            try:
                if self._unsticking.is_due():
                    await self._unstick()
                if reaping.is_due():
                    await self.tick()
                await self.deadlines()
            except RunyardError as error:
                log.warning("reaper.round_failed", code=error.code)
            await asyncio.sleep(min(interval, DEADLINE_SECONDS))

    async def _unstick(self) -> None:
        if ended := await self._store.end_stuck_sessions():
            log.warning("database.sessions_terminated", sessions=ended)

    async def deadlines(self) -> None:
        for run in await self._store.abandon(AT_ONCE, self._cancel_ms, self._left):
            log.info("run.abandoned", run_id=run.id, status=run.status.value)
            if run.status is Status.RUNNING:
                self._stop(run.id)
            else:
                self._metrics.events_persisted(EVENTS_OF_AN_END)
                self._metrics.run_finished(run.status, run.agent)
                self._tail.stale(run.id)
        for approval in await self._store.expire(AT_ONCE, self._expired):
            log.info("approval.expired", run_id=approval.run_id)
            self._metrics.events_persisted(1)
            self._tail.stale(approval.run_id)
            self._wake_workers()

    def _expired(self, approval: Approval) -> Draft:
        return self._draft(ApprovalDecided(approval.id, "expired", "runyard"))

    async def tick(self) -> None:
        if self._recover is not None:
            await self._recover()
        agents: dict[str, str] = {}

        def ending(run: Run, fate: Fate) -> Sequence[Draft]:
            agents[run.id] = run.agent
            return self._ending(run, fate)

        for reaped in await self._store.reap(WORKERS_AT_ONCE, self._max_attempts, ending):
            log.warning("run.reaped", run_id=reaped.run_id, fate=reaped.fate)
            self._tail.stale(reaped.run_id)
            if reaped.fate != "requeue":
                self._metrics.events_persisted(EVENTS_OF_AN_END)
                self._metrics.run_finished(END_OF[reaped.fate].status, agents[reaped.run_id])
            self._wake_workers()
        if self._housekeeping.is_due():
            await self._store.forget_keys(KEY_LIFE_MS)
            await self._store.forget_calls(FORGET_MS)
            await self._store.maintain()
