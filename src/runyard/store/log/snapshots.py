"""Snapshots: states of runs from which a reader continues instead of folding the whole log."""

from typing import Protocol

from msgspec import Struct


class Snapshot(Struct, frozen=True):
    """The state of a run after the event `seq`, encoded by the caller that folded the log."""

    seq: int
    data: bytes


class SnapshotStore(Protocol):
    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        """Store a state of a run and replace one of the same kind at the same seq. Do nothing if the run is deleted or
        its log does not reach that seq. Snapshots are deleted together with their run."""

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        """Return the newest state of this kind at or before the seq `upto`, or None."""
