"""The log, and what is read from it: snapshots, and pushes to clients."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.events import Event
from runyard.domain.push import Push
from runyard.domain.runs.append import Outcome, Part
from runyard.domain.runs.publication import Backlog, CursorAdvance


class Head(Struct, frozen=True):
    """The last seq of a run's log, whether the run has ended, the last published seq, and whether the run has a
    disconnect deadline (`detached`)."""

    last_seq: int
    finished: bool
    published: int
    detached: bool = False


class LogStore(Protocol):
    """The log of every run, and how far it is published to other processes."""

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        """Write parts of several runs in one commit; `domain.append.judge` decides on each, under its run's lock.

        A part is refused alone. Drafts get the next contiguous seqs. A Finish, Park or Release happens in the same
        commit and frees or keeps the lane. A part that was committed before is recognised by its batch number and not
        written again. Busy means that another transaction holds the lane of a part with a move; a part that comes
        alone waits instead. Unavailable means that it is unknown whether the commit happened: call again with the same
        parts."""

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        """Return up to `limit` events with seq > `after`, in order, without gaps."""

    async def read_logs(self, run_ids: Sequence[str], upto: int) -> Mapping[str, Sequence[Event]]:
        """Return the events of these logs with seqs up to `upto`, in order, by run id; empty logs are left out."""

    async def heads(self, run_ids: Sequence[str]) -> Mapping[str, Head]:
        """Return the heads of these logs by run id; unknown ids are left out."""

    async def unpublished(self, quiet_ms: int, limit: int) -> Sequence[Backlog]:
        """Return runs that may have events to publish (or an outbox to close), longest unpublished first. Runs that a
        process published less than `quiet_ms` ago are left out."""

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        """Advance the cursors of these runs, never back, and change the state of ended runs from started: one commit
        for all. Return the runs that were skipped because another transaction holds their rows: publish these later.
        Several processes may call this for the same runs, repeatedly and concurrently."""


class Snapshot(Struct, frozen=True):
    """The state of a run after the event `seq`, encoded by the caller that folded the log."""

    seq: int
    data: bytes


class SnapshotStore(Protocol):
    """Snapshots: states of runs from which a reader continues instead of folding the whole log."""

    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        """Store a state of a run and replace one of the same kind at the same seq. Do nothing if the run is deleted or
        its log does not reach that seq. Snapshots are deleted together with their run."""

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        """Return the newest state of this kind at or before the seq `upto`, or None."""


class PushStore(Protocol):
    """Pushes: addresses that get the updates of runs, each with a cursor over the log."""

    async def put_push(self, push: Push, most: int, *, at_end: bool) -> Push:
        """Store a push and return it; NotFound if there is no such run. It gets the events after the present end of the
        log if `at_end`, otherwise all.

        A push with an existing id replaces its data and begins its attempts again; its position stays. TooMany if the
        run has `most` others."""

    async def list_pushes(self, run_id: str) -> Sequence[Push]:
        """Return the pushes of a run, sorted by id."""

    async def drop_push(self, run_id: str, push_id: str) -> None:
        """Delete a push, if it exists."""

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        """Claim pushes that are due and have events to deliver, first due first; only those of `run_ids` if given.
        Until the lease ends no other call returns them. Also return whether any push has not ended."""

    async def settle_push(self, push: Push, wait_ms: int | None) -> Push | None:
        """Record `seq` and `failures` of a claimed push. It is due again after `wait_ms`, or never if that is None.
        Return the push, or None and change nothing if it was deleted, replaced or claimed again meanwhile."""
