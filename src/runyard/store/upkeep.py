"""The store's operations for operators: retention, API keys, rate limits."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.api_key import ApiKey
from runyard.domain.removal import Removal, Tombstone


class Swept(Struct, frozen=True):
    """The result of one batch of retention: how many runs (or messages) it examined and deleted, and the id to
    continue after. The cursor is None when everything old enough was examined."""

    looked: int
    dropped: int
    cursor: str | None


class RetentionStore(Protocol):
    """Retention: delete old runs, messages and feed entries, and remember what was deleted."""

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


class ApiKeyStore(Protocol):
    """API keys."""

    async def create_api_key(self, key: ApiKey) -> None:
        """Store a new key. Ids are never reused."""

    async def get_api_key(self, key_id: str) -> ApiKey:
        """Return a key, even if it is revoked or expired; NotFound if there is none."""

    async def list_api_keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        """Return the keys of an owner, or of all owners, older than the key `before`, newest first."""

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        """Revoke a key and return it. Revoking again keeps the first revocation time. NotFound if there is none."""

    async def touch_api_keys(self, key_ids: Sequence[str], quiet_ms: int) -> None:
        """Record that these keys are in use, except those recorded less than `quiet_ms` ago. Unknown ids are
        ignored."""


class RateLimitStore(Protocol):
    """Rate limits of tools."""

    async def take_call(self, owner: str, agent: str, tool: str, most: int, window_ms: int) -> int:
        """Count a tool call of an owner's runs of an agent and return 0 if there were fewer than `most` in the last
        `window_ms`. Otherwise count nothing and return the milliseconds until the call is allowed. Atomic across
        processes, on the database's clock."""

    async def forget_calls(self, older_than_ms: int) -> None:
        """Delete the counts whose last call is older than that."""
