"""The reply order: runs that one message started follow one another, each held until the previous one ended or
parked."""

from runyard.domain.runs.run import Run, Status
from runyard.stores.memory.runs.runs import Runs


class ReplyOrder(Runs):
    def _release_next(self, run: Run) -> None:
        """Make the runs behind this run due after a pause. If this run never ran, they wait for what it waited for."""
        if not run.in_mailbox:
            return
        never = run.held and run.id not in self._due
        for each in [each for each in self._held_runs() if each.after_run == run.id and each.id not in self._due]:
            if never:
                self._change(each, after_run=run.after_run)
            else:
                self._due[each.id] = self._now() + self._pauses[each.id]

    async def release_held_runs(self, limit: int) -> tuple[int, int | None]:
        waiting = sorted((self._due[run.id], run.id) for run in self._held_runs() if run.id in self._due)
        due = [run_id for at, run_id in waiting if at <= self._now()][:limit]
        for run_id in due:
            run = self._change(self._runs[run_id], held=False)
            self._lanes[run.lane_key].release(run, self._now())
        left = [at - self._now() for at, run_id in waiting if run_id not in due]
        return len(due), min(left, default=None)

    async def recover_held_runs(self) -> None:
        for run in self._held_runs():
            before = self._runs.get(run.after_run or "")
            if run.id not in self._due and (before is None or before.status not in (Status.QUEUED, Status.RUNNING)):
                self._due[run.id] = self._now()
