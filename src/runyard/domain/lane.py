"""A lane: what runs queue in. One row, one lock, and these transitions: pure, so that a store only reads and writes
back.

A lane is ready when nobody is active in it and something is runnable (a run that is held is not); `ready_at` is when
it became so (or will, after a back-off), and is the order in which lanes are served. The active run is one that runs,
or one that waits and holds the lane.
"""

import msgspec
from msgspec import Struct

from runyard.domain.append import Finish
from runyard.domain.run import MOVES, SUSPECT_ATTEMPTS, ResumeWhy, Run, Status

replace = msgspec.structs.replace


class Lane(Struct, frozen=True, kw_only=True):
    key: str
    next_pos: int
    runnable: int
    active_run: str | None
    ready_at: int
    suspect: bool

    @property
    def is_ready(self) -> bool:
        return self.active_run is None and self.runnable > 0

    def claimed(self, run: Run) -> "Lane":
        return replace(self, active_run=run.id, runnable=self.runnable - 1, suspect=False)

    def returned(self, run: Run, ready_at: int) -> "Lane":
        """`run` (as it is now) is queued again; it comes first, because it came first."""
        active = None if self.active_run == run.id else self.active_run
        suspect = run.attempts >= SUSPECT_ATTEMPTS
        return replace(self, active_run=active, runnable=self.runnable + 1, ready_at=ready_at, suspect=suspect)

    def left(self, run_id: str, now: int) -> "Lane":
        """The run is no longer active here: it ended, or yields while it waits."""
        return replace(self, active_run=None, ready_at=now) if self.active_run == run_id else self

    def released(self, now: int) -> "Lane":
        """A run that was held here may run now. It comes in its old place; a lane that had nothing waits since now."""
        ready_at = now if self.runnable == 0 and self.active_run is None else self.ready_at
        return replace(self, runnable=self.runnable + 1, ready_at=ready_at)

    def withdrawn(self) -> "Lane":
        """A run that was queued here will not run."""
        return replace(self, runnable=self.runnable - 1)


def moved(run: Run, status: Status) -> Run:
    """The run with another status; which may follow which is the table `MOVES`."""
    if status not in MOVES[run.status]:
        raise AssertionError(f"a run cannot go from {run.status} to {status}")
    return replace(run, status=status)


def claimed(run: Run, worker_id: str, version: str | None, now: int) -> Run:
    return replace(
        moved(run, Status.RUNNING),
        agent_version=run.agent_version or version,
        worker_id=worker_id,
        fence=run.fence + 1,
        attempts=run.attempts + 1,
        last_batch=0,
        started_at=run.started_at or now,
    )


def extended(run: Run, drafts: int, batch: int, progress: bool, asked: int) -> Run:
    """The run after a part of its log was written."""
    return replace(
        run,
        last_seq=run.last_seq + drafts,
        last_batch=batch,
        attempts=0 if progress else run.attempts,
        asked=run.asked + asked,
    )


def finished(run: Run, finish: Finish, now: int) -> Run:
    return replace(
        moved(run, finish.status),
        stop_reason=finish.stop_reason,
        error_code=finish.error_code,
        error=finish.error,
        usage=finish.usage,
        worker_id=None,
        finished_at=now,
    )


def revoked(run: Run) -> Run:
    """Whoever had the run has it no longer."""
    return replace(run, fence=run.fence + 1, worker_id=None)


def parked(run: Run) -> Run:
    return replace(revoked(moved(run, Status.WAITING)), attempts=0, detach_deadline=None)


def requeued(run: Run, why: ResumeWhy) -> Run:
    """Back in the queue; a drain is not the run's fault, so that attempt does not count."""
    attempts = max(0, run.attempts - 1) if why == "drain" else run.attempts
    return replace(revoked(moved(run, Status.QUEUED)), resume_why=why, attempts=attempts)
