"""Answers waits without a client: when a child run ends, when a delivered event matches, when a deadline passes.

The process that ends a run answers the run that waits for it, and cancels the children that it leaves behind. Each of
these is a second transaction, so a crash in between may lose it: `sweep` finds what is left, in every process and in
any order. Answering twice has no effect, because the first answer wins.
"""

from collections.abc import Awaitable, Callable

from runyard.base.clock import Clock
from runyard.domain.content.parts import StoredContent
from runyard.domain.events import ApprovalDecided, Draft, Drafter, Usage, WaitAnswered
from runyard.domain.runs.run import Run, Status
from runyard.domain.state.run_state import State
from runyard.domain.task import Budget
from runyard.domain.wait import Wait, WaitStatus
from runyard.engine.control.cancel import Cancel
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.log.tail import Tail
from runyard.errors import AlreadyDecided, NotFound, RunyardError
from runyard.store import WaitStore
from runyard.telemetry.logger import get_logger
from runyard.telemetry.metrics import Metrics

log = get_logger()

AT_ONCE = 500
BY = "runyard"


StartChild = Callable[[Run, str, str, StoredContent, Budget], Awaitable[None]]
"""Queue a run for a parent under an id, with an agent, a text and a budget, unless it was queued before."""


class LinkedRuns:
    """Implements `engine.running.run_services.WaitSupport`."""

    def __init__(
        self,
        store: WaitStore,
        tail: Tail,
        *,
        start_child: StartChild,
        cancel: Cancel,
        snapshots: Snapshots,
        clock: Clock,
        wake_workers: Callable[[], None],
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._tail = tail
        self.start_child = start_child
        self._cancel = cancel
        self._snapshots = snapshots
        self._draft = Drafter(clock, "api")
        self._wake_workers = wake_workers
        self._metrics = metrics

    # --- children

    async def run_ended(self, run: Run) -> None:
        """Answer the parent of an ended run, and cancel the children that it left. What fails here, `sweep` repeats."""
        try:
            if run.parent_run_id is not None:
                await self._answer_parents(run.id)
            if run.asked:
                await self._cancel_children(run.id)
        except RunyardError as error:
            log.warning("waits.answer_delayed", run_id=run.id, code=error.code)

    async def sweep(self) -> None:
        """Do what a crash left undone: answer parents of ended runs, cancel children of ended runs, deliver events."""
        await self._answer_parents(None)
        await self._cancel_children(None)
        await self.match_event(None)

    async def _answer_parents(self, child: str | None) -> None:
        for wait_id, run in await self._store.ended_children(AT_ONCE, child):
            state = await self._snapshots.state(run)
            outcome, event = _end_of_child(wait_id, run, state)
            await self._answer(wait_id, outcome, self._draft(event))

    async def _cancel_children(self, parent: str | None) -> None:
        for child in await self._store.orphaned_children(AT_ONCE, parent):
            await self._cancel(child.owner, child.id)

    # --- events

    async def match_event(self, target: str | None) -> None:
        """Answer the waits for which an event is kept. None: of all targets."""
        for wait, kept in await self._store.matched_events(AT_ONCE, target):
            event = self._draft(WaitAnswered(wait.id, "answered", BY, kept.data))
            try:
                await self._store.answer(None, wait.id, "answered", BY, event, taken=kept)
            except (AlreadyDecided, NotFound):
                continue
            self._after_answer(wait.run_id)

    # --- deadlines

    async def expire(self) -> int | None:
        """Answer timers that are due, and waits whose deadline has passed. Return the milliseconds until the next."""
        due_in: int | None = 0
        while due_in == 0:
            expired, due_in = await self._store.expire(AT_ONCE, self._expiry)
            for wait in expired:
                log.info("wait.expired", run_id=wait.run_id, kind=wait.kind)
                self._after_answer(wait.run_id)
        return due_in

    def _expiry(self, wait: Wait) -> tuple[WaitStatus, Draft]:
        if wait.is_approval:
            return "expired", self._draft(ApprovalDecided(wait.id, "expired", BY))
        if wait.kind == "timer":
            return "answered", self._draft(WaitAnswered(wait.id, "answered", BY))
        if wait.has_default:
            return "answered", self._draft(WaitAnswered(wait.id, "answered", BY, wait.input["default"]))
        return "expired", self._draft(WaitAnswered(wait.id, "expired", BY))

    # --- what they share

    async def _answer(self, wait_id: str, state: WaitStatus, event: Draft) -> None:
        try:
            wait = await self._store.answer(None, wait_id, state, BY, event)
        except (AlreadyDecided, NotFound):
            return  # another process did it, or the run is deleted
        self._after_answer(wait.run_id)

    def _after_answer(self, run_id: str) -> None:
        self._metrics.events_persisted(1)
        self._tail.mark_stale(run_id)
        self._wake_workers()


def _end_of_child(wait_id: str, child: Run, state: State) -> tuple[WaitStatus, WaitAnswered]:
    usage = child.usage or state.usage or Usage()
    if child.status is Status.DONE:
        output = state.output
        value = {
            "text": "" if output is None else output.text,
            "sources": [] if output is None else output.sources,
            "outputs": {} if output is None else output.outputs,
        }
        return "answered", WaitAnswered(wait_id, "answered", child.id, value, usage=usage)
    code = "canceled" if child.status is Status.CANCELED else child.error_code or "error"
    message = "The child run was canceled." if child.status is Status.CANCELED else child.error
    return "failed", WaitAnswered(wait_id, "failed", child.id, code=code, message=message, usage=usage)
