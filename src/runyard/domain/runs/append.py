"""Writes to a run's log, and the rule that accepts or refuses them.

A worker's write is a `Part`: drafts of one run, optionally with a `Move` that ends its claim. `judge` is the whole
rule. Every store calls it under the run's lock, so that fence, batch number, expected seq and cancel are checked in one
place and inside the write.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from runyard.domain.conversations.thread import Message
from runyard.domain.events import PROGRESS, Draft, Usage
from runyard.domain.runs.ledger import Ledger
from runyard.domain.runs.run import Fate, Run, Status, StopReason
from runyard.domain.wait import Wait
from runyard.errors import CancelRequested, Fenced, NonMonotonicSeq, NotParked, WriteRefused


class Finish(Struct, frozen=True, kw_only=True):
    """End the run. Its pending waits become void; `answer` becomes a message of the thread."""

    status: Status
    stop_reason: StopReason
    error_code: str | None = None
    error: str | None = None
    usage: Usage | None = None
    answer: Message | None = None
    first_token_ms: int | None = None


GIVEN_UP = "The run was given up: its worker died every time it was tried."

# The end of a run that has no worker.
END_OF: dict[Fate, Finish] = {
    "cancel": Finish(status=Status.CANCELED, stop_reason="cancelled"),
    "poison": Finish(
        status=Status.ERROR,
        stop_reason="error",
        error_code="poison",
        error=GIVEN_UP,
    ),
}


class Park(Struct, frozen=True, kw_only=True):
    """Leave the worker and wait for an answer to any of these waits. With `hold` the run keeps its lane."""

    waits: Sequence[str]
    hold: bool = True
    first_token_ms: int | None = None


class Release(Struct, frozen=True, kw_only=True):
    """Return the run to the queue without counting the attempt: a drain, or an agent that this worker does not know."""

    delay_ms: int = 0


Move: TypeAlias = Finish | Park | Release


class Part(Struct, frozen=True, kw_only=True):
    """One run's share of a group commit. `batch` counts the parts of this claim from 1, so that a retry is recognised.
    `ledger` has the ledger entries of its drafts, for a run in a mailbox. `takes` are the messages that
    its `message.taken` events name."""

    run_id: str
    lane_key: str
    fence: int
    batch: int
    drafts: Sequence[Draft] = ()
    waits: Sequence[Wait] = ()
    ledger: Ledger | None = None
    takes: Sequence[str] = ()
    expected_seq: int | None = None
    move: Move | None = None

    @property
    def makes_progress(self) -> bool:
        return any(draft.type in PROGRESS for draft in self.drafts)


class Appended(Struct, frozen=True):
    """The drafts are in the log from `first_seq` to `last_seq`. `lane_ready`: after the move the lane has a run to
    claim. `unread`: messages that came for the run and that its agent has not taken."""

    first_seq: int
    last_seq: int
    cancel_requested: bool = False
    lane_ready: bool = False
    unread: int = 0


class Repeated(Struct, frozen=True):
    """This part was committed before, and the result was lost. Nothing was written now."""

    last_seq: int
    cancel_requested: bool = False


class Busy(Struct, frozen=True):
    """Another transaction holds the lane. Nothing was written; send the part again with the next group."""


Outcome: TypeAlias = Appended | Repeated | Busy | WriteRefused


def judge(part: Part, run: Run | None, answered: bool = False) -> Outcome:
    """Decide whether `part` may be written to `run`, which the caller has locked.

    `answered` is true if one of the waits of a Park has an answer already.
    """
    if run is None or run.fence != part.fence:
        return Fenced()
    cancel = run.cancel_requested_at is not None
    if part.batch <= run.last_batch:
        return Repeated(run.last_seq, cancel)
    if run.status is not Status.RUNNING or part.batch != run.last_batch + 1:
        return Fenced()
    if part.expected_seq is not None and part.expected_seq != run.last_seq + 1:
        return NonMonotonicSeq()
    move = part.move
    if cancel and move is not None and not (isinstance(move, Finish) and move.status is Status.CANCELED):
        return CancelRequested()
    if answered and isinstance(move, Park):
        return NotParked()
    unread = run.unread - len(part.takes)
    return Appended(run.last_seq + 1, run.last_seq + len(part.drafts), cancel, unread=unread)
