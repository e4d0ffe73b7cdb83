"""Other seals for what is stored: the newest key in the place of older ones and of none, or no seal at all.

Goes through the tables in the order of their keys, a bounded batch at a time, and swaps a value only if it is still the
one that was read; so it may be cut off at any point and begun again, and servers that have all the keys read and write
meanwhile. A value that does not open is left as it is and counted. When a whole pass finds nothing left to do, the
other keys are forgotten: from then on the database opens without them.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from runyard.encryption.cipher import MARK, TEXT_MARK, KeyRing
from runyard.encryption.sealed_channel_store import BLOCK, PASSAGE, TAGS, opened_tags
from runyard.encryption.sealed_store import (
    COPY,
    DATA,
    ERROR,
    INPUT,
    LINE,
    LINE_INPUT,
    SOURCES,
    TEXT,
    opened_input,
    opened_sources,
)
from runyard.errors import Unreadable
from runyard.stores.keys_in_use import note
from runyard.stores.rows import Row
from runyard.stores.sql_store import SqlStore
from runyard.stores.transactions import encryption

BATCH = 1000
PASSES = 4  # the second finds what came in during the first
FIRST = "00000000-0000-0000-0000-000000000000"
_json = msgspec.json.Encoder().encode

Values = tuple[Any, ...]


class Progress(Struct, frozen=True):
    """How far it is in one table: rows looked at, rows that got another seal, rows that do not open."""

    table: str
    seen: int
    swapped: int
    unreadable: int
    done: bool = False


class Rotation:
    """With `decrypt`, everything is stored plain again."""

    def __init__(self, store: SqlStore, ring: KeyRing, decrypt: bool = False) -> None:
        self._store = store
        self._ring = ring.accepting_plain()
        self._decrypt = decrypt
        self.left = 0  # values that the last pass found to do

    async def run(self, batch: int = BATCH) -> AsyncIterator[Progress]:
        """Pass after pass, until one finds nothing more to do; how far it is after each batch."""
        if not self._decrypt:
            await note(self._store, self._ring)
        for _ in range(PASSES):
            self.left = 0
            for table in (_Events, _Messages, _Approvals, _Runs, _Checkpoints, _Blocks, _Passages, _Lines):
                async for progress in self._through(table(self._store, self._ring, self._decrypt), batch):
                    yield progress
            yield await self._drop_snapshots()
            if self.left == 0:
                but = None if self._decrypt else self._ring.writer.id
                await self._store._write("other", encryption.forget_keys, but)
                return

    async def _drop_snapshots(self) -> Progress:
        """Remove the snapshots that would need another seal: they are derived, and readers make them again."""
        head = MARK if self._decrypt else self._ring.writer.head
        dropped = await self._store._write("other", encryption.drop_snapshots, head, self._decrypt)
        self.left += dropped
        return Progress("snapshots", dropped, dropped, 0, done=True)

    async def _through(self, table: "_Table", batch: int) -> AsyncIterator[Progress]:
        seen = swapped = unreadable = 0
        while rows := await table.next(batch):
            changes: list[Values] = []
            for row in rows:
                try:
                    change = table.change(row)
                except Unreadable:
                    unreadable += 1
                else:
                    changes += [] if change is None else [change]
            if changes:
                await table.swap(changes)
            seen += len(rows)
            swapped += len(changes)
            yield Progress(table.name, seen, swapped, unreadable)
        self.left += swapped + unreadable
        yield Progress(table.name, seen, swapped, unreadable, done=True)


class _Table:
    """One table: its next rows, what becomes of a row (None: nothing), and how that is written."""

    name: str
    first: Values = (FIRST,)

    def __init__(self, store: SqlStore, ring: KeyRing, decrypt: bool) -> None:
        self._store = store
        self._ring = ring
        self._decrypt = decrypt
        self._at = self.first

    @property
    def _head(self) -> bytes:
        """What a value begins with that is to be changed (to decrypt: any seal), or that is not to be (else)."""
        return MARK if self._decrypt else self._ring.writer.head

    @property
    def _text_head(self) -> str:
        return TEXT_MARK if self._decrypt else self._ring.writer.text_head

    def _heads(self) -> Values:
        raise NotImplementedError

    def change(self, row: Row) -> Values | None:
        raise NotImplementedError

    def place(self, row: Row) -> Values:
        return (str(row["id"]),)

    async def next(self, batch: int) -> Sequence[Row]:
        statement = f"seals_of_{self.name}"
        rows = await self._store._read(encryption.look, statement, *self._at, *self._heads(), self._decrypt, batch)
        if rows:
            self._at = self.place(rows[-1])
        return rows

    async def swap(self, changes: Sequence[Values]) -> None:
        await self._store._write("other", encryption.swap, f"swap_{self.name}", changes)

    def _sealed(self, kept: bytes, scope: str, detail: str) -> bytes:
        plain = self._ring.open(kept, scope, detail)
        return plain if self._decrypt else self._ring.seal(plain, scope, detail)

    def _sealed_text(self, kept: str, scope: str, detail: str) -> str:
        plain = self._ring.open_text(kept, scope, detail)
        return plain if self._decrypt else self._ring.seal_text(plain, scope, detail)


class _Events(_Table):
    name = "events"
    first = (FIRST, 0)

    def _heads(self) -> Values:
        return (self._head,)

    def place(self, row: Row) -> Values:
        return str(row["run_id"]), row["seq"]

    def change(self, row: Row) -> Values | None:
        if row["data"] is None:
            return None
        run_id, old = str(row["run_id"]), row["data"]
        return run_id, row["seq"], old, self._sealed(old, run_id, f"{DATA} {row['id']}")


class _Messages(_Table):
    name = "messages"

    def _heads(self) -> Values:
        return self._text_head, f'["{self._text_head}'

    def change(self, row: Row) -> Values | None:
        if row["text"] is None:
            return None
        message_id, old, old_sources = str(row["id"]), row["text"], row["sources"]
        sources = opened_sources(self._ring, message_id, msgspec.json.decode(old_sources, type=list[str]))
        if sources and not self._decrypt:
            sources = [self._ring.seal_text(_json(sources).decode(), message_id, SOURCES)]
        return message_id, old, self._sealed_text(old, message_id, TEXT), old_sources, _json(sources).decode()


class _Approvals(_Table):
    name = "approvals"
    first = ("",)

    def _heads(self) -> Values:
        return (f'"{self._text_head}'.encode(),)

    def change(self, row: Row) -> Values | None:
        if row["input"] is None:
            return None
        approval_id, old = row["id"], row["input"]
        plain = _json(opened_input(self._ring, approval_id, msgspec.json.decode(old)))
        sealed = plain if self._decrypt else _json(self._ring.seal_text(plain.decode(), approval_id, INPUT))
        return approval_id, old, sealed


class _Runs(_Table):
    name = "runs"

    def _heads(self) -> Values:
        return (self._text_head,)

    def change(self, row: Row) -> Values | None:
        if row["error"] is None:
            return None
        run_id, old = str(row["id"]), row["error"]
        return run_id, old, self._sealed_text(old, run_id, ERROR)


class _Checkpoints(_Table):
    name = "checkpoints"

    def _heads(self) -> Values:
        return (self._head,)

    def change(self, row: Row) -> Values | None:
        if row["data"] is None:
            return None
        run_id, old = str(row["id"]), row["data"]
        return run_id, old, self._sealed(old, run_id, COPY)


class _Blocks(_Table):
    name = "blocks"

    def _heads(self) -> Values:
        return (self._text_head,)

    def change(self, row: Row) -> Values | None:
        if row["content"] is None:
            return None
        old = row["content"]
        return str(row["id"]), old, self._sealed_text(old, row["agent"], f"{BLOCK} {row['label']}")


class _Passages(_Table):
    name = "passages"

    def _heads(self) -> Values:
        return self._text_head, f'["{self._text_head}'

    def change(self, row: Row) -> Values | None:
        if row["content"] is None:
            return None
        passage_id, old, old_tags = str(row["id"]), row["content"], row["tags"]
        tags = opened_tags(self._ring, passage_id, msgspec.json.decode(old_tags, type=list[str]))
        if tags and not self._decrypt:
            tags = [self._ring.seal_text(_json(tags).decode(), passage_id, TAGS)]
        return passage_id, old, self._sealed_text(old, passage_id, PASSAGE), old_tags, _json(tags).decode()


class _Lines(_Table):
    name = "lines"

    def _heads(self) -> Values:
        return (self._text_head,)

    def change(self, row: Row) -> Values | None:
        if not row["is_due"]:
            return None
        line_id, run_id = str(row["id"]), str(row["run_id"])
        columns = ((row["content"], LINE), (row["tool_input"], LINE_INPUT))
        return line_id, *(
            None if old is None else self._sealed_text(old, run_id, f"{place} {line_id}") for old, place in columns
        )
