"""Recovers and ends runs that their worker or client left.

It requeues or ends runs of dead workers, ends canceled runs that did not stop in time, cancels runs without a client,
answers waits that are due, terminates database sessions of frozen processes, and deletes old idempotency keys. Every
process does it, with or without a worker; no process leads."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from runyard.base.clock import Clock
from runyard.domain.events import Draft
from runyard.domain.rate import FORGET_MS
from runyard.domain.runs.append import END_OF
from runyard.domain.runs.endings import EndWithoutWorker
from runyard.domain.runs.run import Fate, Run, Status
from runyard.engine.control.linked_runs import LinkedRuns
from runyard.engine.log.tail import Tail
from runyard.errors import RunyardError
from runyard.store import Store
from runyard.telemetry.logger import get_logger
from runyard.telemetry.metrics import Metrics

log = get_logger()

WORKERS_AT_ONCE = 20
EVENTS_OF_AN_END = 2  # the reason, and run.finished
KEY_LIFE_MS = 24 * 3600 * 1000
HOUSEKEEPING_SECONDS = 3600.0
DEADLINE_SECONDS = 1.0  # between checks of deadlines
STUCK_SECONDS = 5.0  # between checks for sessions of processes that stopped in the middle of a transaction
AT_ONCE = 100


class Interval:
    """Is due at most once in `seconds`."""

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


class Reaper:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        *,
        clock: Clock,
        max_attempts: int,
        cancel_seconds: float,
        wake_workers: Callable[[], None],
        stop_run: Callable[[str], None],
        metrics: Metrics,
        linked_runs: LinkedRuns,
        recover_reply_order: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`stop_run` tells the worker of a run to stop it. `recover_reply_order` releases runs in channels that
        a crashed process did not release."""
        self._recover_reply_order = recover_reply_order
        self._linked_runs = linked_runs
        self._store = store
        self._tail = tail
        self._clock = clock
        self._max_attempts = max_attempts
        self._cancel_ms = int(cancel_seconds * 1000)
        self._wake_workers = wake_workers
        self._metrics = metrics
        self._stop_run = stop_run
        self._end_reaped = EndWithoutWorker(clock, "not stopped in time")
        self._end_disconnected = EndWithoutWorker(clock, "its client did not reconnect")
        self._housekeeping = Interval(clock, HOUSEKEEPING_SECONDS)
        self._unsticking = Interval(clock, STUCK_SECONDS)

    async def run(self, interval: float) -> None:
        """Reap until cancelled. The first round is at once, so that runs resume soon after a restart."""
        reaping = Interval(self._clock, interval, at_once=True)
        while True:
            try:
                if self._unsticking.is_due():
                    await self._terminate_stuck_sessions()
                if reaping.is_due():
                    await self.reap()
                due_in = await self.enforce_deadlines()
            except RunyardError as error:
                due_in = None
                log.warning("reaper.round_failed", code=error.code)
            pause = min(interval, DEADLINE_SECONDS)
            await asyncio.sleep(pause if due_in is None else min(pause, max(due_in, 1) / 1000))

    async def _terminate_stuck_sessions(self) -> None:
        if ended := await self._store.end_stuck_sessions():
            log.warning("database.sessions_terminated", sessions=ended)

    async def enforce_deadlines(self) -> int | None:
        """Cancel runs whose grace period after a disconnect is over, and answer waits that are due. Return the
        milliseconds until the next wait is due."""
        for run in await self._store.abandon(AT_ONCE, self._cancel_ms, self._end_disconnected):
            log.info("run.abandoned", run_id=run.id, status=run.status.value)
            if run.status is Status.RUNNING:
                self._stop_run(run.id)
            else:
                self._metrics.events_persisted(EVENTS_OF_AN_END)
                self._metrics.run_finished(run.status, run.agent)
                self._tail.mark_stale(run.id)
        return await self._linked_runs.expire()

    async def reap(self) -> None:
        """Requeue or end the runs of dead workers, and delete old rows once in `HOUSEKEEPING_SECONDS`."""
        if self._recover_reply_order is not None:
            await self._recover_reply_order()
        await self._linked_runs.sweep()
        agents: dict[str, str] = {}

        def ending(run: Run, fate: Fate) -> Sequence[Draft]:
            agents[run.id] = run.agent
            return self._end_reaped(run, fate)

        for reaped in await self._store.reap(WORKERS_AT_ONCE, self._max_attempts, ending):
            log.warning("run.reaped", run_id=reaped.run_id, fate=reaped.fate)
            self._tail.mark_stale(reaped.run_id)
            if reaped.fate != "requeue":
                self._metrics.events_persisted(EVENTS_OF_AN_END)
                self._metrics.run_finished(END_OF[reaped.fate].status, agents[reaped.run_id])
            self._wake_workers()
        if self._housekeeping.is_due():
            await self._store.forget_keys(KEY_LIFE_MS)
            await self._store.forget_calls(FORGET_MS)
            await self._store.forget_events()
            await self._store.maintain()
