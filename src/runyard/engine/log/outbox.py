"""Publishes committed events: advances the publication cursors of runs, then wakes their followers in all processes.

Events are not published in the transaction that writes them. The tail reports each commit; reports since the last
round go into one statement, at once when idle and at most every `PACE_SECONDS`. If no other process and no follower
of published events exists, they wait for the next poll. The poll of any process also finds events that a process
committed but did not publish before it died, `batch` events of a run at a time, so that a long log does not delay
other runs. A run whose rows are locked is skipped and retried with growing pauses up to the poll interval.

Authority: the cursor in the store says how far a run is published.
Races: several processes may publish the same run, and a process may die between cursor and hint.
Guarantees: cursors only move forward, never past the log's end, and no event stays unpublished. Hints may be lost,
repeated or reordered; readers also poll (`Streams.watch`).
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from runyard.base.clock import Clock
from runyard.buses.bus import Bus, Hint
from runyard.domain.events import Event, RunFinished, RunQueued
from runyard.domain.runs.publication import Backlog, CursorAdvance, state_of
from runyard.domain.runs.run import Status
from runyard.engine.log.publications import Publications
from runyard.errors import RunyardError
from runyard.store import LogStore
from runyard.telemetry.logger import get_logger
from runyard.telemetry.metrics import Metrics

log = get_logger()

PACE_SECONDS = 0.01
MOST_PER_POLL = 1000


class Outbox:
    def __init__(
        self,
        store: LogStore,
        publications: Publications,
        bus: Bus,
        clock: Clock,
        metrics: Metrics,
        *,
        poll_seconds: float,
        batch: int,
        on_commit: Callable[[str, str], None] = lambda run_id, last_type: None,
    ) -> None:
        """`on_commit` gets the type of the last event of every commit."""
        self._store = store
        self._publications = publications
        self._bus = bus
        self._clock = clock
        self._metrics = metrics
        self._poll = poll_seconds
        self._batch = batch
        self._on_commit = on_commit
        self._reported: dict[str, CursorAdvance] = {}
        self._reported_at: float | None = None
        self._behind: list[Backlog] = []
        self._skipped: dict[str, CursorAdvance] = {}
        self._retry = PACE_SECONDS
        self._polled_at = clock.monotonic()
        self._wakeup = asyncio.Event()
        self.poll_soon()  # a predecessor of this process may have left events unpublished

    # --- reports of commits

    def add_committed(self, run_id: str, events: Sequence[Event]) -> None:
        """Publish these events, which this process has just committed."""
        last, state = events[-1], None
        if last.type == "run.finished" and isinstance(end := last.payload, RunFinished):
            state = state_of(Status(end.status))
        self._reported[run_id] = CursorAdvance(run_id, last.seq, state=state)
        if self._reported_at is None:
            self._reported_at = self._clock.monotonic()
        self._wakeup.set()
        self._on_commit(run_id, last.type)
        self._metrics.events_persisted(len(events))
        if events[0].seq == 1 and isinstance(first := events[0].payload, RunQueued):
            self._metrics.run_started(first.agent)

    def poll_soon(self) -> None:
        """Poll for unpublished events now, because some were committed that this process has not read."""
        self._poll_now = True
        self._wakeup.set()

    # --- publishing

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            if not self._behind:
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(self._poll, self._retry) if self._skipped else self._poll):
                        await self._wakeup.wait()
            try:
                if self._is_awaited:
                    await self.round()
            except RunyardError as error:
                log.warning("outbox.publish_failed", code=error.code)
                await asyncio.sleep(self._poll)
            await asyncio.sleep(PACE_SECONDS)

    @property
    def _is_awaited(self) -> bool:
        """Whether a round is needed now, rather than at the next poll."""
        poll_is_due = self._clock.monotonic() - self._polled_at >= self._poll
        return self._bus.has_others or bool(self._publications.wakeups.runs) or self._is_owed or poll_is_due

    @property
    def _is_owed(self) -> bool:
        """Whether runs from an earlier poll, or runs that were locked, are still to be published."""
        return bool(self._behind) or bool(self._skipped)

    async def round(self) -> None:
        """Publish the reported commits and, if a poll is due, what other processes left unpublished."""
        self._wakeup.clear()
        if not self._behind:
            await self._poll_store()
        reported, self._reported = self._reported, {}
        reported_at, self._reported_at = self._reported_at, None
        behind, self._behind = self._behind, []
        skipped, self._skipped = self._skipped, {}
        wanted = skipped | {each.run_id: each.mark(self._batch) for each in behind} | reported
        if not wanted:
            return
        try:
            locked = set(await self._store.publish(list(wanted.values())))
        except BaseException:
            self._reported = reported | self._reported
            self._reported_at = reported_at
            self._poll_now = True
            raise
        self._behind = [
            each.after(self._batch) for each in behind if each.is_longer_than(self._batch) and each.run_id not in locked
        ]
        self._skipped = {run_id: wanted[run_id] for run_id in locked}
        self._retry = min(self._retry * 2, self._poll) if locked else PACE_SECONDS
        marks = [mark for run_id, mark in wanted.items() if run_id not in locked]
        for mark in marks:
            self._publications.advance(mark.run_id, mark.upto)
        if marks:
            self._bus.send([Hint("log", mark.run_id, mark.upto) for mark in marks])
        if reported_at is not None:
            self._metrics.outbox_lag([(self._clock.monotonic() - reported_at) * 1000])

    async def _poll_store(self) -> None:
        """Read the unpublished runs if the poll interval has passed or `poll_soon` was called."""
        now = self._clock.monotonic()
        if not self._poll_now and now - self._polled_at < self._poll:
            return
        quiet = 0 if self._poll_now else int(self._poll * 1000)
        self._poll_now = False
        self._polled_at = now
        self._behind = list(await self._store.unpublished(quiet, MOST_PER_POLL))
