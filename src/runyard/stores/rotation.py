"""Change of keys: seal stored content with the newest key, or unseal it.

The rotation goes through the tables in the order of their keys, a bounded batch at a time, and replaces a value only if
it is still the value that was read. So it may be interrupted at any point and started again, and servers that have all
the keys read and write meanwhile. A value that does not open stays as it is and is counted. When a whole pass finds
nothing to do, the other keys are deleted from the list of keys in use: from then on the database opens without them.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from msgspec import Struct

from runyard.encryption.cipher import KeyRing
from runyard.encryption.columns import SNAPSHOT_DATA, TABLES, Table
from runyard.errors import Unreadable
from runyard.stores.keys_in_use import record_key
from runyard.stores.rows import Row
from runyard.stores.sql_store import SqlStore
from runyard.stores.transactions.upkeep import encryption

BATCH = 1000
PASSES = 4  # the second pass finds values that were written during the first

Values = tuple[Any, ...]


class Progress(Struct, frozen=True):
    """Progress in one table: rows read, rows resealed, rows that do not open."""

    table: str
    seen: int
    swapped: int
    unreadable: int
    done: bool = False


class Rotation:
    """A change of keys. With `decrypt`, all content is stored unsealed."""

    def __init__(self, store: SqlStore, ring: KeyRing, decrypt: bool = False) -> None:
        self._store = store
        self._ring = ring.accepting_plain()
        self._decrypt = decrypt
        self.left = 0  # values that the last pass had to change or could not open

    async def run(self, batch: int = BATCH) -> AsyncIterator[Progress]:
        """Do passes until one finds nothing to do; yield the progress after each batch."""
        if not self._decrypt:
            await record_key(self._store, self._ring)
        for _ in range(PASSES):
            self.left = 0
            for table in TABLES:
                async for progress in self._reseal_table(table, batch):
                    yield progress
            yield await self._drop_snapshots()
            if self.left == 0:
                keep = None if self._decrypt else self._ring.writer.id
                await self._store._write("other", encryption.forget_keys, keep)
                return

    async def _drop_snapshots(self) -> Progress:
        """Delete the snapshots that need another seal. They are derived, and readers make them again."""
        prefix = SNAPSHOT_DATA.sealed_prefix(None if self._decrypt else self._ring.writer)
        dropped = await self._store._write("other", encryption.drop_snapshots, prefix, self._decrypt)
        self.left += dropped
        return Progress("snapshots", dropped, dropped, 0, done=True)

    async def _reseal_table(self, table: Table, batch: int) -> AsyncIterator[Progress]:
        seen = swapped = unreadable = 0
        at: Values = table.first
        batch = min(batch, table.most or batch)
        while rows := await self._next_rows(table, at, batch):
            changes: list[Values] = []
            for row in rows:
                try:
                    changes += self._resealed(table, row)
                except Unreadable:
                    unreadable += 1
            if changes:
                await self._store._write("other", encryption.run_many, f"swap_{table.name}", changes)
            at = _key(table, rows[-1])
            seen += len(rows)
            swapped += len(changes)
            yield Progress(table.name, seen, swapped, unreadable)
        self.left += swapped + unreadable
        yield Progress(table.name, seen, swapped, unreadable, done=True)

    async def _next_rows(self, table: Table, at: Values, batch: int) -> Sequence[Row]:
        """Return the next rows. A row with nothing to do has None in its first sealed column."""
        key = None if self._decrypt else self._ring.writer
        prefixes = [column.sealed_prefix(key) for column in table.columns]
        params = (*at, *prefixes, self._decrypt, batch)
        return await self._store._read(encryption.run_one, f"seals_of_{table.name}", *params)

    def _resealed(self, table: Table, row: Row) -> list[Values]:
        """Return the key of a row and the old and new value of each column, or nothing if there is nothing to do."""
        if row[table.columns[0].field] is None:
            return []
        scope, item = str(row[table.scope]), "" if table.item is None else str(row[table.item])
        values = [*_key(table, row)]
        for column in table.columns:
            old = row[column.field]
            values += [old, column.reseal(self._ring, old, scope, item, self._decrypt)]
        return [tuple(values)]


def _key(table: Table, row: Row) -> Values:
    return tuple(row[name] if name in ("seq", "no") else str(row[name]) for name in table.key)
