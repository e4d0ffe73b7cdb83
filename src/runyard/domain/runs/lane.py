"""A lane: a queue of runs. It is one row and one lock. The transitions here are pure; a store reads and writes the row.

A lane is ready if it has no active run and at least one runnable run (a held run is not runnable). `ready_at` is the
time since when it is ready (or will be, after a back-off); lanes are served in this order. The active run is running,
or it waits and keeps the lane.
"""

import msgspec
from msgspec import Struct

from runyard.domain.runs.append import Finish
from runyard.domain.runs.run import MOVES, SUSPECT_ATTEMPTS, ResumeWhy, Run, Status

replace = msgspec.structs.replace


class Lane(Struct, frozen=True, kw_only=True):
    """The row of a lane."""

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
        """Queue the active run again, in its old position: first."""
        active = None if self.active_run == run.id else self.active_run
        suspect = run.attempts >= SUSPECT_ATTEMPTS
        return replace(self, active_run=active, runnable=self.runnable + 1, ready_at=ready_at, suspect=suspect)

    def left(self, run_id: str, now: int) -> "Lane":
        """Remove the active run: it ended, or it waits and releases the lane."""
        return replace(self, active_run=None, ready_at=now) if self.active_run == run_id else self

    def released(self, now: int) -> "Lane":
        """Make a held run runnable, in its old position. A lane that had nothing to run is ready since now."""
        ready_at = now if self.runnable == 0 and self.active_run is None else self.ready_at
        return replace(self, runnable=self.runnable + 1, ready_at=ready_at)

    def withdrawn(self) -> "Lane":
        """Remove a queued run that will not run."""
        return replace(self, runnable=self.runnable - 1)


def moved(run: Run, status: Status) -> Run:
    """Return the run with another status; `MOVES` lists the allowed changes."""
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


def extended(run: Run, drafts: int, batch: int, progress: bool, asked: int, taken: int = 0) -> Run:
    """Return the run after a part was written to its log."""
    return replace(
        run,
        last_seq=run.last_seq + drafts,
        last_batch=batch,
        attempts=0 if progress else run.attempts,
        asked=run.asked + asked,
        unread=run.unread - taken,
    )


def finished(run: Run, finish: Finish, now: int) -> Run:
    """Return the run after its end. The caller starts the runs of its unread messages."""
    return replace(
        moved(run, finish.status),
        stop_reason=finish.stop_reason,
        error_code=finish.error_code,
        error=finish.error,
        usage=finish.usage,
        first_token_ms=finish.first_token_ms or run.first_token_ms,
        worker_id=None,
        finished_at=now,
        unread=0,
    )


def revoked(run: Run) -> Run:
    """Return the run without a worker, under a new fence."""
    return replace(run, fence=run.fence + 1, worker_id=None)


def parked(run: Run, first_token_ms: int | None = None) -> Run:
    first = first_token_ms or run.first_token_ms
    return replace(revoked(moved(run, Status.WAITING)), attempts=0, detach_deadline=None, first_token_ms=first)


def requeued(run: Run, why: ResumeWhy) -> Run:
    """Return the run as queued. The attempt before a drain does not count."""
    attempts = max(0, run.attempts - 1) if why == "drain" else run.attempts
    return replace(revoked(moved(run, Status.QUEUED)), resume_why=why, attempts=attempts)
