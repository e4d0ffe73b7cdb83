"""Publishes committed events: advances the runs' cursors, then wakes whoever follows them, here and on other pods.

Nothing is published in the transaction that writes it. The journal (and whoever else writes) tells what it committed;
all that was told meanwhile goes into one statement, at once when idle and at most every `PACE_SECONDS`; where nobody
waits for it (no other process, no follower of what is published) it is left for the next poll. What a process
committed and did not live to publish is found by the poll of any other, `batch` events of a run at a time, so that a
long log does not keep others waiting. A run whose rows another transaction has locked is skipped and tried again, ever
more rarely up to the poll, so that no run waits for another.

Races: cursors never go back and hints may be lost, doubled or reordered, so any number of publishers may work on the
same run, and one may die between the cursor and the hint: readers look for themselves (`Streams.watch`).
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from runyard.bus import Bus, Hint
from runyard.clock import Clock
from runyard.domain.events import Event, RunFinished, RunQueued
from runyard.domain.publication import Backlog, Mark, state_of
from runyard.domain.run import Status
from runyard.engine.log.publications import Publications
from runyard.errors import RunyardError
from runyard.store import Store
from runyard.telemetry.metrics import Metrics

log = structlog.get_logger()

PACE_SECONDS = 0.01
MOST_PER_POLL = 1000


class Outbox:
    def __init__(
        self,
        store: Store,
        publications: Publications,
        bus: Bus,
        clock: Clock,
        metrics: Metrics,
        *,
        poll_seconds: float,
        batch: int,
    ) -> None:
        self._store = store
        self._publications = publications
        self._bus = bus
        self._clock = clock
        self._metrics = metrics
        self._poll = poll_seconds
        self._batch = batch
        self._told: dict[str, Mark] = {}
        self._told_at: float | None = None
        self._behind: list[Backlog] = []
        self._skipped: dict[str, Mark] = {}
        self._retry = PACE_SECONDS
        self._looked = clock.monotonic()
        self._bell = asyncio.Event()
        self.stirred()  # an earlier life of this process may have left something behind

    # --- what is told

    def committed(self, run_id: str, events: Sequence[Event]) -> None:
        """These events of a run have just been committed here."""
        last = events[-1]
        end = last.payload if last.type == "run.finished" else None
        status = Status(end.status) if isinstance(end, RunFinished) else None
        self._told[run_id] = Mark(run_id, last.seq, state=None if status is None else state_of(status))
        if self._told_at is None:
            self._told_at = self._clock.monotonic()
        self._bell.set()
        self._metrics.events_persisted(len(events))
        if events[0].seq == 1 and isinstance(first := events[0].payload, RunQueued):
            self._metrics.run_started(first.agent)

    def stirred(self) -> None:
        """Something was committed here without telling what: look for it now."""
        self._look_now = True
        self._bell.set()

    # --- what is done

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            if not self._behind:
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(self._poll, self._retry) if self._skipped else self._poll):
                        await self._bell.wait()
            try:
                if self._is_awaited:
                    await self.round()
            except RunyardError as error:
                log.warning("outbox.publish_failed", code=error.code)
                await asyncio.sleep(self._poll)
            await asyncio.sleep(PACE_SECONDS)

    @property
    def _is_awaited(self) -> bool:
        poll_is_due = self._clock.monotonic() - self._looked >= self._poll
        return self._bus.has_others or bool(self._publications.wakeups.runs) or self._is_owed or poll_is_due

    @property
    def _is_owed(self) -> bool:
        """Something that was found or skipped earlier is left to publish."""
        return bool(self._behind) or bool(self._skipped)

    async def round(self) -> None:
        """Publish what was told and, when it is time, what others left behind."""
        self._bell.clear()
        if not self._behind:
            await self._look()
        told, self._told = self._told, {}
        told_at, self._told_at = self._told_at, None
        behind, self._behind = self._behind, []
        skipped, self._skipped = self._skipped, {}
        wanted = skipped | {each.run_id: each.mark(self._batch) for each in behind} | told
        if not wanted:
            return
        try:
            locked = set(await self._store.publish(list(wanted.values())))
        except BaseException:
            self._told = told | self._told
            self._told_at = told_at
            self._look_now = True
            raise
        self._behind = [
            each.after(self._batch) for each in behind if each.is_longer_than(self._batch) and each.run_id not in locked
        ]
        self._skipped = {run_id: wanted[run_id] for run_id in locked}
        self._retry = min(self._retry * 2, self._poll) if locked else PACE_SECONDS
        marks = [mark for run_id, mark in wanted.items() if run_id not in locked]
        for mark in marks:
            self._publications.note(mark.run_id, mark.upto)
        if marks:
            self._bus.send([Hint("log", mark.run_id, mark.upto) for mark in marks])
        if told_at is not None:
            self._metrics.outbox_lag([(self._clock.monotonic() - told_at) * 1000])

    async def _look(self) -> None:
        """Fetch the backlog: at every interval, or at once if something was stirred."""
        now = self._clock.monotonic()
        if not self._look_now and now - self._looked < self._poll:
            return
        quiet = 0 if self._look_now else int(self._poll * 1000)
        self._look_now = False
        self._looked = now
        self._behind = list(await self._store.unpublished(quiet, MOST_PER_POLL))
