"""The log of every run, and how far it is published to other processes."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.events import Event
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
    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        """Write parts of several runs in one commit; `domain.append.judge` decides on each, under its run's lock.

        A part is refused alone. Drafts get the next contiguous seqs. A Finish, Park or Release happens in the same
        commit and frees or keeps the lane. A part that was committed before is recognised by its batch number and not
        written again. Busy means that another transaction holds the lane of a part with a move; a part that comes
        alone waits instead. Unavailable means that it is unknown whether the commit happened: call again with the same
        parts."""

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        """Return up to `limit` events with seq > `after`, in order, without gaps."""

    async def heads(self, run_ids: Sequence[str]) -> Mapping[str, Head]:
        """Return the heads of these logs by run id; unknown ids are left out."""

    async def unpublished(self, quiet_ms: int, limit: int) -> Sequence[Backlog]:
        """Return runs that may have events to publish (or an outbox to close), longest unpublished first. Runs that a
        process published less than `quiet_ms` ago are left out."""

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        """Advance the cursors of these runs, never back, and change the state of ended runs from started: one commit
        for all. Return the runs that were skipped because another transaction holds their rows: publish these later.
        Several processes may call this for the same runs, repeatedly and concurrently."""
