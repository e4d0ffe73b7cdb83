"""The only writer of events.

A claimed run gets a `RunWriter`, which buffers its events. One group commit takes the buffers of all runs of this
process: at once when idle, otherwise what arrived during the last commit; there are no timers. When many events are
waiting, a second group is sent while the first is being committed. A run is in one group at a time.

Authority: the store. An event exists once its commit is known to have succeeded; only then do followers get it.
Races: a part (one run's share of a group) carries the run's fence and a batch number, both checked inside the write.
A worker that lost its lease is refused, and a retry after a lost COMMIT answer is recognised as a repeat.
Guarantees: events of a run are stored in the order they were written, each once. While the database is unavailable the
same parts are sent again, and writers become `congested`. A part that the store refuses fails alone, not its group.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context
from time import perf_counter
from typing import cast

from runyard.domain.events import Draft, Event, place
from runyard.domain.runs.append import Appended, Busy, Move, Outcome, Park, Part, Repeated
from runyard.domain.runs.ledger import Ledger, LedgerMessage, Step
from runyard.domain.runs.run import Run
from runyard.domain.wait import Wait
from runyard.engine.log.tail import Tail
from runyard.errors import Fenced, RunyardError, Unavailable, WriteRefused
from runyard.store import LogStore
from runyard.telemetry.logger import get_logger
from runyard.telemetry.metrics import Metrics

log = get_logger()

GROUP_EVENTS = 2000  # events in one commit
SECOND_GROUP_EVENTS = 500  # waiting events that make a second, concurrent commit worthwhile
HIGH_WATER = 256  # uncommitted events of one run above which its agent waits
LOW_WATER = 128  # uncommitted events at which the agent continues
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)


class RunWriter:
    """Writes the log of one claimed run. Not usable after an error, except through `reset_after_refusal`.

    `on_committed` is called when `call_at` events are committed. It returns the next such number."""

    def __init__(self, journal: "Journal", run: Run) -> None:
        self._journal = journal
        self._run_id = run.id
        self._lane_key = run.lane_key
        self._fence = run.fence
        self._batch = run.last_batch
        self._drafts: list[Draft] = []
        self._waits_requested: list[Wait] = []
        self._steps: dict[str, Step] = {}
        self._lines: list[LedgerMessage] = []
        self._takes: list[str] = []
        self._move: Move | None = None
        self._written = 0
        self._committed = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._error: RunyardError | None = None
        self.offered: Part | None = None
        self.cancel_requested = False
        self.lane_ready = False
        self.unread = run.unread  # messages for the run that were not taken, as last reported
        self.on_cancel: Callable[[], None] | None = None
        self.call_at = sys.maxsize  # committed events
        self.on_committed: Callable[[int], int] | None = None

    def write(self, draft: Draft) -> None:
        """Buffer an event. Raise the writer's error if the claim is over."""
        if self._error is not None:
            raise self._error
        self._drafts.append(draft)
        self._written += 1
        self._journal.offer(self, 1)

    def add_ledger(self, ledger: Ledger) -> None:
        """Add ledger rows to the part that holds the next event."""
        self._steps |= {step.id: step for step in ledger.steps}
        self._lines += ledger.messages

    def request_wait(self, wait: Wait, drafts: Sequence[Draft]) -> None:
        """Write a wait row and the events that announce it, in one part."""
        self._waits_requested.append(wait)
        for draft in drafts:
            self.write(draft)

    def take_message(self, message_id: str, draft: Draft) -> None:
        """Write that the agent takes a message, with the event that says so."""
        self._takes.append(message_id)
        self.write(draft)

    @property
    def committed(self) -> int:
        """How many events of this claim are durable."""
        return self._committed

    @property
    def congested(self) -> bool:
        """Whether the agent should `drain` before it writes more: too many events are uncommitted, or only the first
        one was written, which should be sent before the agent produces the next."""
        return self._written - self._committed > HIGH_WATER or self._written == 1

    async def drain(self) -> None:
        """Return when few enough events are uncommitted."""
        if self._written == 1:
            await asyncio.sleep(0)
        else:
            await self._reach(self._written - LOW_WATER)

    async def commit(self) -> None:
        """Return when everything written so far is durable."""
        await self._reach(self._written)

    async def move(self, move: Move, drafts: Sequence[Draft]) -> None:
        """Write the last part of this claim, in one commit with the events that are still uncommitted.

        If the store refuses it, none of the part is written, and the writer can try another move. Before a park the
        uncommitted events are committed first, so that a refused park does not lose the requests of waits."""
        if self._error is not None:
            raise self._error
        if isinstance(move, Park):
            await self.commit()
        self._drafts.extend(drafts)
        self._written += len(drafts)
        self._move = move
        self._journal.offer(self, len(drafts))
        try:
            await self._reach(self._written + 1)
        except WriteRefused:
            self.reset_after_refusal()
            raise

    def reset_after_refusal(self) -> None:
        """Drop the refused part, so that the writer can write again."""
        self._error = None
        self._written = self._committed

    def abandon(self) -> None:
        """End the writer because the claim is lost. Uncommitted events are dropped."""
        self.fail(Fenced())

    # --- called by the journal

    def part(self) -> Part:
        """Return the part to commit next: the unanswered one again, or a new one of all that was written since."""
        if self.offered is None:
            drafts, self._drafts = self._drafts, []
            waits, self._waits_requested = self._waits_requested, []
            steps, self._steps = self._steps, {}
            lines, self._lines = self._lines, []
            takes, self._takes = self._takes, []
            self._batch += 1
            self.offered = Part(
                run_id=self._run_id,
                lane_key=self._lane_key,
                fence=self._fence,
                batch=self._batch,
                drafts=drafts,
                waits=waits,
                ledger=Ledger(list(steps.values()), lines) if steps or lines else None,
                takes=takes,
                move=self._move,
            )
            self._move = None
        return self.offered

    @property
    def is_ready(self) -> bool:
        """Whether there is something to commit."""
        return self._error is None and (self.offered is not None or bool(self._drafts) or self._move is not None)

    def mark_committed(self, part: Part, cancel_requested: bool) -> None:
        """Wake the callers that wait for this part. Call `on_cancel` if the store has a cancel request for the run."""
        self.offered = None
        self.cancel_requested = cancel_requested
        if cancel_requested and self.on_cancel is not None:
            self.on_cancel()
        self._committed += len(part.drafts)
        if self._committed >= self.call_at and self.on_committed is not None:
            self.call_at = self.on_committed(self._committed)
        reached = self._committed + (part.move is not None)
        while self._waiting and self._waiting[0][0] <= reached:
            _wake(self._waiting.popleft()[1], None)

    def mark_refused(self, part: Part, error: RunyardError) -> None:
        """Fail the writer. Nothing of the part was written, so its batch number is used again."""
        self._batch -= 1
        self.fail(error)

    def fail(self, error: RunyardError) -> None:
        """Drop everything uncommitted and raise `error` in every waiting and later call."""
        self._error = error
        self.offered = None
        self._move = None
        self._drafts.clear()
        self._waits_requested.clear()
        self._steps.clear()
        self._lines.clear()
        self._takes.clear()
        while self._waiting:
            _wake(self._waiting.popleft()[1], error)

    async def _reach(self, count: int) -> None:
        if self._error is not None:
            raise self._error
        if self._committed >= count:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((count, future))
        await future


def _wake(future: "asyncio.Future[None]", error: RunyardError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


class Journal:
    """Commits the events of all runs of this process. `open` returns the writer of a claimed run."""

    def __init__(self, store: LogStore, tail: Tail, metrics: Metrics | None = None) -> None:
        self._store = store
        self._tail = tail
        self._metrics = metrics or Metrics()
        self._ready: dict[RunWriter, None] = {}
        self._busy: list[RunWriter] = []
        self._in_flight: set[RunWriter] = set()
        self._waiting = 0  # estimated number of events in `_ready`
        self._commits: set[asyncio.Task[None]] = set()

    def open(self, run: Run) -> RunWriter:
        return RunWriter(self, run)

    def first_event(self, run_id: str) -> Event | None:
        """Return the first event of a run's log if it is in memory, as it is after this process queued the run."""
        chunks = self._tail.read(run_id, 0)
        return chunks[0].events[0] if chunks else None

    def offer(self, writer: RunWriter, events: int) -> None:
        """Include this writer in the next group, and start a commit task if one is needed."""
        self._ready[writer] = None
        self._waiting += events
        if not self._commits or (self._waiting > SECOND_GROUP_EVENTS and len(self._commits) == 1):
            self._commits.add(asyncio.create_task(self._write(), name="journal", context=Context()))

    async def close(self, seconds: float) -> None:
        """Return when everything is written. Cancel the commits that are not done after `seconds`."""
        if self._commits:
            _, late = await asyncio.wait(self._commits, timeout=seconds)
            for commit in late:
                commit.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _write(self) -> None:
        try:
            while group := self._next_group():
                self._in_flight |= group.keys()
                try:
                    await self._commit(group)
                finally:
                    self._in_flight -= group.keys()
        finally:
            # before the task is done, so that the next `offer` starts a new one
            self._commits.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    def _next_group(self) -> dict[RunWriter, Part]:
        """Return the parts to commit next. A part whose lane was locked goes alone, because a part that is alone in
        its commit may wait for the lane."""
        while self._busy:
            writer = self._busy.pop()
            if writer.is_ready:
                return {writer: writer.part()}
        group: dict[RunWriter, Part] = {}
        events = 0
        for writer in [writer for writer in self._ready if writer not in self._in_flight]:
            if events >= GROUP_EVENTS:
                break
            del self._ready[writer]
            if writer.is_ready:
                group[writer] = writer.part()
                events += len(group[writer].drafts)
        self._waiting = max(0, self._waiting - events) if self._ready else 0
        return group

    async def _commit(self, group: dict[RunWriter, Part]) -> None:
        for pause in (*RETRY_SECONDS, None):
            began = perf_counter()
            try:
                outcomes = await self._store.append(list(group.values()))
            except Unavailable:
                log.warning("journal.write_retried", runs=len(group))
                await asyncio.sleep(pause or RETRY_SECONDS[-1])
                group = {writer: part for writer, part in group.items() if writer.offered is part}
                if not group:
                    return
                if pause is None:
                    break
            except Exception as error:
                await self._commit_alone(group, error)
                return
            else:
                self._metrics.committed(sum(len(part.drafts) for part in group.values()), perf_counter() - began)
                for (writer, part), outcome in zip(group.items(), outcomes, strict=True):
                    self._apply_outcome(writer, part, outcome)
                return
        for writer in group:
            self._ready[writer] = None

    async def _commit_alone(self, group: dict[RunWriter, Part], error: Exception) -> None:
        """Commit part by part after a group was rejected, so that only the part at fault fails."""
        if len(group) > 1:
            for writer, part in group.items():
                await self._commit({writer: part})
            return
        [(writer, part)] = group.items()
        log.error("journal.write_rejected", run_id=part.run_id, error=type(error).__name__)
        writer.mark_refused(part, WriteRefused("The database refused an event of this run."))

    def _apply_outcome(self, writer: RunWriter, part: Part, outcome: Outcome) -> None:
        """Pass committed events to followers, then the outcome to the writer, unless it was abandoned meanwhile."""
        if isinstance(outcome, Appended) and part.drafts:
            self._tail.add(part.run_id, place(part.run_id, outcome.first_seq, part.drafts))
        elif isinstance(outcome, Repeated):
            self._tail.mark_stale(part.run_id)
        if isinstance(outcome, Fenced):
            self._metrics.write_fenced()
        if writer.offered is not part:
            return
        match outcome:
            case Appended(cancel_requested=cancel, lane_ready=ready, unread=unread):
                writer.lane_ready = ready
                writer.unread = unread
                writer.mark_committed(part, cancel)
            case Repeated(cancel_requested=cancel):
                writer.lane_ready = True
                writer.mark_committed(part, cancel)
            case WriteRefused() as error:
                writer.mark_refused(part, error)
            case Busy():
                self._busy.append(writer)
        if writer.is_ready and writer not in self._busy:
            self._ready[writer] = None
