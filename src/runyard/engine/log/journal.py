"""The only writer of events.

A claimed run gets a `RunWriter`. What it writes is buffered and becomes durable with the next group: one commit takes
what all runs of this process have ready (idle: at once; busy: what came during the last commit; no timers). When much
is waiting, a second group is made up and sent while the first is being committed; a run is only ever in one of them.
Nobody is told of an event before it is committed; then the tail has it and followers are woken.

Races: a part carries its run's fence and a batch number, checked inside the write, so a worker that lost its lease is
refused and a repeat after a lost COMMIT answer is recognised. While the database is away the same parts are offered
again and pens grow until they are `congested`. A part that is refused, or breaks the group, fails alone.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context
from time import perf_counter
from typing import cast

import structlog

from runyard.domain.append import Appended, Busy, Move, Outcome, Park, Part, Repeated
from runyard.domain.approval import Approval
from runyard.domain.events import Draft, place
from runyard.domain.ledger import Ledger, Line, Step
from runyard.domain.run import Run
from runyard.engine.log.tail import Tail
from runyard.errors import Fenced, RunyardError, Unavailable, WriteRefused
from runyard.store import Store
from runyard.telemetry.metrics import Metrics

log = structlog.get_logger()

GROUP_EVENTS = 2000  # events in one commit
MUCH = 500  # events that wait: then a second group is worth its commit
HIGH_WATER = 256  # uncommitted events of one run: more, and its agent waits
LOW_WATER = 128
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)


class RunWriter:
    """One claim's way into its run's log. Not safe to use after an error: the claim is over."""

    def __init__(self, journal: "Journal", run: Run) -> None:
        self._journal = journal
        self._run_id = run.id
        self._lane_key = run.lane_key
        self._fence = run.fence
        self._batch = run.last_batch
        self._drafts: list[Draft] = []
        self._approvals: list[Approval] = []
        self._steps: dict[str, Step] = {}
        self._lines: list[Line] = []
        self._move: Move | None = None
        self._written = 0
        self._committed = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._error: RunyardError | None = None
        self.offered: Part | None = None
        self.cancel_requested = False
        self.lane_ready = False
        self.on_cancel: Callable[[], None] | None = None

    def write(self, draft: Draft) -> None:
        if self._error is not None:
            raise self._error
        self._drafts.append(draft)
        self._written += 1
        self._journal.offer(self, 1)

    def note(self, ledger: Ledger) -> None:
        """What the event that is written next means for the ledger, in one part with it."""
        self._steps |= {step.id: step for step in ledger.steps}
        self._lines += ledger.lines

    def ask(self, approval: Approval, drafts: Sequence[Draft]) -> None:
        """The row and the events that open it, in one part."""
        self._approvals.append(approval)
        for draft in drafts:
            self.write(draft)

    @property
    def congested(self) -> bool:
        """Too much is waiting; or this was the very first event, which should be on its way before the next is made."""
        return self._written - self._committed > HIGH_WATER or self._written == 1

    async def drain(self) -> None:
        if self._written == 1:
            await asyncio.sleep(0)
        else:
            await self._reach(self._written - LOW_WATER)

    async def commit(self) -> None:
        """Return when everything written so far is durable."""
        await self._reach(self._written)

    async def move(self, move: Move, drafts: Sequence[Draft]) -> None:
        """The last part of this claim, in one commit with what was written before it.

        If it is refused, none of that is written, and the pen can try another move. A run that parks must not lose what
        it asked for, so there the rest is committed first."""
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
            self.start_over()
            raise

    def start_over(self) -> None:
        """What was refused is dropped; the pen can write again."""
        self._error = None
        self._written = self._committed

    def abandon(self) -> None:
        """The claim is lost; whatever is still waiting will never be written."""
        self.fail(Fenced())

    # --- the journal's side

    def part(self) -> Part:
        """What is to be committed next: the part that is still unanswered, or all that was written since."""
        if self.offered is None:
            drafts, self._drafts = self._drafts, []
            approvals, self._approvals = self._approvals, []
            steps, self._steps = self._steps, {}
            lines, self._lines = self._lines, []
            self._batch += 1
            self.offered = Part(
                run_id=self._run_id,
                lane_key=self._lane_key,
                fence=self._fence,
                batch=self._batch,
                drafts=drafts,
                approvals=approvals,
                ledger=Ledger(list(steps.values()), lines) if steps or lines else None,
                move=self._move,
            )
            self._move = None
        return self.offered

    @property
    def is_ready(self) -> bool:
        return self._error is None and (self.offered is not None or bool(self._drafts) or self._move is not None)

    def taken(self, part: Part, cancel_requested: bool) -> None:
        self.offered = None
        self.cancel_requested = cancel_requested
        if cancel_requested and self.on_cancel is not None:
            self.on_cancel()
        self._committed += len(part.drafts)
        reached = self._committed + (part.move is not None)
        while self._waiting and self._waiting[0][0] <= reached:
            _wake(self._waiting.popleft()[1], None)

    def refused(self, part: Part, error: RunyardError) -> None:
        """Nothing of the part was written, so its number is free again."""
        self._batch -= 1
        self.fail(error)

    def fail(self, error: RunyardError) -> None:
        self._error = error
        self.offered = None
        self._move = None
        self._drafts.clear()
        self._approvals.clear()
        self._steps.clear()
        self._lines.clear()
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
    def __init__(self, store: Store, tail: Tail, metrics: Metrics | None = None) -> None:
        self._store = store
        self._tail = tail
        self._metrics = metrics or Metrics()
        self._ready: dict[RunWriter, None] = {}
        self._busy: list[RunWriter] = []
        self._under_way: set[RunWriter] = set()
        self._waiting = 0  # events, more or less
        self._writers: set[asyncio.Task[None]] = set()

    def open(self, run: Run) -> RunWriter:
        return RunWriter(self, run)

    def offer(self, pen: RunWriter, events: int) -> None:
        self._ready[pen] = None
        self._waiting += events
        if not self._writers or (self._waiting > MUCH and len(self._writers) == 1):
            self._writers.add(asyncio.create_task(self._write(), name="journal", context=Context()))

    async def close(self, seconds: float) -> None:
        """Return when nothing is left to write, or give up what could not be written in time."""
        if self._writers:
            _, late = await asyncio.wait(self._writers, timeout=seconds)
            for writer in late:
                writer.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _write(self) -> None:
        try:
            while group := self._next_group():
                self._under_way |= group.keys()
                try:
                    await self._commit(group)
                finally:
                    self._under_way -= group.keys()
        finally:
            self._writers.discard(
                cast("asyncio.Task[None]", asyncio.current_task())
            )  # at once: who offers next starts one

    def _next_group(self) -> dict[RunWriter, Part]:
        """All that is ready; but a part that found its lane locked goes alone, because alone it may wait for it."""
        while self._busy:
            pen = self._busy.pop()
            if pen.is_ready:
                return {pen: pen.part()}
        group: dict[RunWriter, Part] = {}
        events = 0
        for pen in [pen for pen in self._ready if pen not in self._under_way]:
            if events >= GROUP_EVENTS:
                break
            del self._ready[pen]
            if pen.is_ready:
                group[pen] = pen.part()
                events += len(group[pen].drafts)
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
                group = {pen: part for pen, part in group.items() if pen.offered is part}
                if not group:
                    return
                if pause is None:
                    break
            except Exception as error:
                await self._commit_alone(group, error)
                return
            else:
                self._metrics.committed(sum(len(part.drafts) for part in group.values()), perf_counter() - began)
                for (pen, part), outcome in zip(group.items(), outcomes, strict=True):
                    self._settle(pen, part, outcome)
                return
        for pen in group:
            self._ready[pen] = None

    async def _commit_alone(self, group: dict[RunWriter, Part], error: Exception) -> None:
        """Something in the group cannot be written at all: find it, and let only it fail."""
        if len(group) > 1:
            for pen, part in group.items():
                await self._commit({pen: part})
            return
        [(pen, part)] = group.items()
        log.error("journal.write_rejected", run_id=part.run_id, error=type(error).__name__)
        pen.refused(part, WriteRefused("The database refused an event of this run."))

    def _settle(self, pen: RunWriter, part: Part, outcome: Outcome) -> None:
        """Tell followers first: what is committed is true even if its pen was abandoned meanwhile."""
        if isinstance(outcome, Appended) and part.drafts:
            self._tail.add(part.run_id, place(part.run_id, outcome.first_seq, part.drafts))
        elif isinstance(outcome, Repeated):
            self._tail.stale(part.run_id)
        if isinstance(outcome, Fenced):
            self._metrics.write_fenced()
        if pen.offered is not part:
            return
        match outcome:
            case Appended(cancel_requested=cancel, lane_ready=ready):
                pen.lane_ready = ready
                pen.taken(part, cancel)
            case Repeated(cancel_requested=cancel):
                pen.lane_ready = True
                pen.taken(part, cancel)
            case WriteRefused() as error:
                pen.refused(part, error)
            case Busy():
                self._busy.append(pen)
        if pen.is_ready and pen not in self._busy:
            self._ready[pen] = None
