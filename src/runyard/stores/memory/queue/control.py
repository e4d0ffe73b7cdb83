"""Cancel runs: changes by people or deadlines."""

from collections.abc import Sequence

from runyard.domain.runs.run import Run, Status
from runyard.store import Ending
from runyard.stores.memory.runs.transitions import Transitions


class Control(Transitions):
    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        run = await self.get_run(owner, run_id)
        if run.status.is_terminal or run.cancel_requested_at is not None:
            return run
        now = self._now()
        self._outbox.reopen(run.id)
        if run.status is Status.RUNNING:
            return self._change(run, cancel_requested_at=now, cancel_deadline=now + grace_ms)
        if run.status is Status.QUEUED and not run.held:
            self._lanes[run.lane_key].leave(run)
        return self._give_up(run, "cancel", ending)

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


def _age(run: Run) -> int:
    return run.detach_deadline or 0
