"""Publication is a cursor: the last seq of a run's log that was announced to other processes, and the run's state.

A `CursorAdvance` advances the cursor of a run to a seq. It closes the run's outbox while no new event can come: at the
run's end, or while it is queued or waiting and no transaction has changed it since (`turn` detects a change).
"""

import msgspec
from msgspec import Struct

from runyard.domain.runs.run import Run, State, Status


class CursorAdvance(Struct, frozen=True):
    """An advance of a run's cursor."""

    run_id: str
    upto: int
    turn: int | None = None  # queued or waiting since this turn
    state: State | None = None  # set if `upto` is the run's end


class Backlog(Struct, frozen=True):
    """A run that the poll found: a part of its log may be unpublished."""

    run_id: str
    next_seq: int
    turn: int
    last_seq: int
    status: Status

    def mark(self, batch: int) -> CursorAdvance:
        """Return the next advance, by at most `batch` events."""
        upto = min(self.last_seq, self.next_seq - 1 + batch)
        if upto < self.last_seq or self.status is Status.RUNNING:
            return CursorAdvance(self.run_id, upto)
        return CursorAdvance(self.run_id, upto, self.turn, state_of(self.status))

    def is_longer_than(self, batch: int) -> bool:
        return self.next_seq + batch <= self.last_seq

    def after(self, batch: int) -> "Backlog":
        """Return the backlog that remains after the next advance."""
        return msgspec.structs.replace(self, next_seq=self.next_seq + batch)


def is_dated(run: Run) -> bool:
    """Return whether the store records when each event of this run was published. Only plans need that, and they have
    few events; in a chat it would cost a row for each token."""
    return run.face == "plans"


def state_of(status: Status) -> State | None:
    """Return the state of a run after its end is published; None for a run that has not ended."""
    if not status.is_terminal:
        return None
    return "cancelled" if status is Status.CANCELED else "finished"
