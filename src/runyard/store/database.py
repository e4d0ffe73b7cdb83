"""The database as a whole: open, close, check, maintain, and an overview of the installation."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from runyard.store.queue import WorkerRow


class Overview(Struct, frozen=True, kw_only=True):
    """Counts over all owners. Each count stops at the limit of the caller, so that a large backlog is not slow."""

    queued: int
    ready_since: int | None  # since when the longest waiting idle lane has had a run to start
    running: int
    approvals: int
    behind: int  # runs with unpublished events
    behind_since: int | None  # creation time of the oldest of those
    workers: Sequence[WorkerRow]
    now: int  # on the store's clock
    size: int  # bytes
    version: str  # of the database
    xmin_age: int | None  # transactions since the oldest open snapshot; Postgres only


class Database(Protocol):
    async def open(self) -> None:
        """Connect and migrate the schema. Raise StartupError, in one sentence, if that fails."""

    async def close(self) -> None:
        """Release all connections and files. Operations that returned before are durable."""

    async def ping(self) -> None:
        """Return if the database answers; raise Unavailable if not."""

    async def check_disk(self) -> None:
        """Raise DiskFull if a write of this process found the database's disk full within the last minute."""

    async def maintain(self) -> None:
        """Do routine maintenance: create partitions ahead of time on Postgres, update statistics on SQLite."""

    async def end_stuck_sessions(self) -> int:
        """Terminate database sessions of processes that stopped in the middle of a transaction some seconds ago and
        still hold its locks. Return how many there were."""

    async def overview(self, most: int) -> Overview:
        """Return counts over all owners; each count stops at `most`."""
