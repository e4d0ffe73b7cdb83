"""Cancel runs and decide approvals: changes by people or deadlines."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from runyard.domain.approval import Approval, ApprovalState
from runyard.domain.events import PROGRESS, Draft
from runyard.domain.run import Run, Status
from runyard.errors import AlreadyDecided, NotFound, RunEnded
from runyard.store import Ending
from runyard.stores.memory.rows import page
from runyard.stores.memory.transitions import Transitions


class Control(Transitions):
    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        run = await self.get_run(owner, run_id)
        if run.status.is_terminal or run.cancel_requested_at is not None:
            return run
        now = self._now()
        self._outbox.reopen(run.id)
        if run.status is Status.RUNNING:
            return self._change(run, cancel_requested_at=now, cancel_deadline=now + grace_ms)
        ended = self._give_up(run, "cancel", ending)
        if run.status is Status.QUEUED and not run.held:
            self._lanes[run.lane_key].leave(run)
        return ended

    async def detach(self, run_id: str, grace_ms: int) -> None:
        run = self._runs.get(run_id)
        if run is not None and self._may_be_left(run):
            self._change(run, detach_deadline=self._now() + grace_ms)

    async def attach(self, run_ids: Sequence[str]) -> None:
        for run in [self._runs[run_id] for run_id in run_ids if run_id in self._runs]:
            self._change(run, detach_deadline=None)

    def _may_be_left(self, run: Run) -> bool:
        return run.status in (Status.QUEUED, Status.RUNNING) and run.cancel_requested_at is None

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        due = [run for run in self._runs.values() if run.detach_deadline is not None and self._may_be_left(run)]
        due = [run for run in due if run.detach_deadline is not None and run.detach_deadline <= self._now()]
        due = sorted(
            sorted(due, key=_age)[:limit], key=lambda run: run.id
        )  # the longest disconnected, in the order of their ids
        return [await self.cancel(run.owner, run.id, grace_ms, ending) for run in due]

    async def get_approval(self, owner: str, approval_id: str) -> Approval:
        approval = self._approvals.get(approval_id)
        if approval is None or self._runs[approval.run_id].owner != owner:
            raise NotFound
        return approval

    async def list_approvals(
        self, owner: str, before: str | None, limit: int, run_id: str | None = None
    ) -> Sequence[Approval]:
        pending = (a for a in self._approvals.values() if a.state == "pending" and run_id in (None, a.run_id))
        return page((a for a in pending if self._runs[a.run_id].owner == owner), before, limit)

    async def decide(
        self, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
    ) -> Approval:
        approval = await self.get_approval(owner, approval_id)
        if approval.state != "pending":
            raise RunEnded if approval.state == "void" else AlreadyDecided
        return self._decide(approval, state, by, event)

    async def expire(self, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
        pending = [a for a in self._approvals.values() if a.state == "pending" and a.expires_at is not None]
        late = [a for a in pending if a.expires_at is not None and a.expires_at <= self._now()][:limit]
        return [self._decide(approval, "expired", None, event(approval)) for approval in late]

    def _decide(self, approval: Approval, state: ApprovalState, by: str | None, event: Draft) -> Approval:
        decided = replace(approval, state=state, decided_by=by, decided_at=self._now())
        self._approvals[approval.id] = decided
        run = self._runs[approval.run_id]
        self._outbox.reopen(run.id)
        run = self._write(run, [event], attempts=0 if event.type in PROGRESS else run.attempts)
        if run.status is Status.WAITING:
            self._requeue(run, "decision")
        return decided


def _age(run: Run) -> int:
    return run.detach_deadline or 0
