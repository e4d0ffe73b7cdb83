"""Retention: delete old runs, messages and feed entries, and remember what was deleted."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.removal import Removal, Tombstone


class Swept(Struct, frozen=True):
    """The result of one batch of retention: how many runs (or messages) it examined and deleted, and the id to
    continue after. The cursor is None when everything old enough was examined."""

    looked: int
    dropped: int
    cursor: str | None


class RetentionStore(Protocol):
    async def sweep(self, horizon: int, after: str | None, limit: int) -> Swept:
        """Delete runs that ended before `horizon`, among up to `limit` runs with an id above `after`: their logs,
        approvals, cursors, checkpoints and queues. Each leaves a tombstone.

        A chat is deleted as a whole, with its messages, when the last of its runs ended before the horizon; never
        while one of its runs has not ended or while it has a fork. A run in a channel or DM is deleted alone, unless
        another run is held behind it."""

    async def sweep_messages(self, horizon: int, after: str | None, limit: int) -> Swept:
        """Delete channel messages and DMs from before `horizon`, with their reactions, among up to `limit` messages
        with an id above `after`. Messages with later replies, and messages of runs that have not ended, stay. The
        conversations stay."""

    async def drop_feed(self, horizon: int, limit: int) -> int:
        """Delete up to `limit` of the oldest feed entries from before `horizon`; return how many."""

    async def drop_logs(self, horizon: int, tombstones: int) -> int:
        """Free the disk space of swept logs, and delete tombstones made before `tombstones`. Return how many partitions
        of the log were dropped (0 on SQLite, where sweeping deletes the rows)."""

    async def get_tombstone(self, owner: str, run_id: str) -> Tombstone:
        """Return the tombstone of a run, by its id or its external id; NotFound if there is none."""

    async def removals(self, since: int, after: str | None, limit: int) -> Sequence[Removal]:
        """Return threads, and runs without a thread, that `delete_thread` and `sweep` deleted at `since` (with an id
        above `after`) or later, ordered by time and id. The transaction that deletes writes the row."""

    async def forget_removals(self, before: int) -> None:
        """Delete the records of removals made before a time."""
