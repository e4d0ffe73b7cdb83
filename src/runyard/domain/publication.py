"""Publication is a cursor: how far a run's log has been announced to other processes, and the state that goes with it.

A `Mark` says that a run is published up to a seq. It closes the run's outbox where nothing more can come for now: at
its end, or at rest (queued, waiting) if nobody has moved it on since it was looked at, which `turn` tells.
"""

import msgspec
from msgspec import Struct

from runyard.domain.run import Run, State, Status


class Mark(Struct, frozen=True):
    run_id: str
    upto: int
    turn: int | None = None  # at rest since this turn
    state: State | None = None  # `upto` is the run's end, and this is what it became


class Backlog(Struct, frozen=True):
    """A run as the poll finds it: some of its log may not be published yet."""

    run_id: str
    next_seq: int
    turn: int
    last_seq: int
    status: Status

    def mark(self, batch: int) -> Mark:
        """The next step: at most `batch` events further."""
        upto = min(self.last_seq, self.next_seq - 1 + batch)
        if upto < self.last_seq or self.status is Status.RUNNING:
            return Mark(self.run_id, upto)
        return Mark(self.run_id, upto, self.turn, state_of(self.status))

    def is_longer_than(self, batch: int) -> bool:
        return self.next_seq + batch <= self.last_seq

    def after(self, batch: int) -> "Backlog":
        """What is left of it when the next step is done."""
        return msgspec.structs.replace(self, next_seq=self.next_seq + batch)


def is_dated(run: Run) -> bool:
    """Whether the store keeps when each event of this run was published. Only followers of plans see what is published,
    and plans have few events: a chat would pay a row for each of its tokens."""
    return run.face == "plans"


def state_of(status: Status) -> State | None:
    """What a run's state becomes when its end is published; None while it has none."""
    if not status.is_terminal:
        return None
    return "cancelled" if status is Status.CANCELED else "finished"
