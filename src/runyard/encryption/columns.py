"""The sealed columns of the database. Sealing, opening and the change of keys all follow this table.

A value is bound to its place: to the name of its column, to a `scope` (a run, a message, ...) and, where one scope has
several values in a column, to an `item`. A column's `reseal` works on the value as the database stores it; `seal` and
`open` work on the value as the domain has it.
"""

from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from runyard.encryption.cipher import MARK, TEXT_MARK, Key, KeyRing

V = TypeVar("V")
FIRST_ID = "00000000-0000-0000-0000-000000000000"
_json = msgspec.json.Encoder().encode


class Column(Generic[V]):
    """A sealed column: its name in the database and the form of its values."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.field = name.partition(".")[2]

    def detail(self, item: str = "") -> str:
        return f"{self.name} {item}" if item else self.name

    def seal(self, ring: KeyRing, plain: V, scope: str, item: str = "") -> V:
        raise NotImplementedError

    def open(self, ring: KeyRing, kept: V, scope: str, item: str = "") -> V:
        raise NotImplementedError

    def sealed_prefix(self, key: Key | None) -> bytes | str:
        """Return the first bytes of every stored value that this key sealed, or that any key sealed."""
        raise NotImplementedError

    def reseal(self, ring: KeyRing, stored: Any, scope: str, item: str, decrypt: bool) -> Any:
        """Return a stored value under the ring's first key, or unsealed."""
        if stored is None:
            return None
        plain = self.open(ring, self._load(stored), scope, item)
        return self._dump(plain if decrypt else self.seal(ring, plain, scope, item))

    def _load(self, stored: Any) -> V:
        return stored  # type: ignore[no-any-return]

    def _dump(self, kept: V) -> Any:
        return kept


class BytesColumn(Column[bytes]):
    def seal(self, ring: KeyRing, plain: bytes, scope: str, item: str = "") -> bytes:
        return ring.seal(plain, scope, self.detail(item))

    def open(self, ring: KeyRing, kept: bytes, scope: str, item: str = "") -> bytes:
        return ring.open(kept, scope, self.detail(item))

    def sealed_prefix(self, key: Key | None) -> bytes:
        return MARK if key is None else key.head


class TextColumn(Column[str]):
    def seal(self, ring: KeyRing, plain: str, scope: str, item: str = "") -> str:
        return ring.seal_text(plain, scope, self.detail(item))

    def open(self, ring: KeyRing, kept: str, scope: str, item: str = "") -> str:
        return ring.open_text(kept, scope, self.detail(item))

    def sealed_prefix(self, key: Key | None) -> str:
        return TEXT_MARK if key is None else key.text_head


class ListColumn(Column[list[str]]):
    """A list of texts, stored as JSON. Sealed, it has one text, which contains all of them. An empty list is stored
    unsealed."""

    def seal(self, ring: KeyRing, plain: list[str], scope: str, item: str = "") -> list[str]:
        return [ring.seal_text(_json(plain).decode(), scope, self.detail(item))] if plain else plain

    def open(self, ring: KeyRing, kept: list[str], scope: str, item: str = "") -> list[str]:
        if len(kept) > 1:
            ring.refuse_plain()
        if len(kept) != 1:
            return kept
        plain = ring.open_text(kept[0], scope, self.detail(item))
        return kept if plain is kept[0] else msgspec.json.decode(plain, type=list[str])

    def sealed_prefix(self, key: Key | None) -> str:
        return '["' + (TEXT_MARK if key is None else key.text_head)

    def _load(self, stored: str) -> list[str]:
        return msgspec.json.decode(stored, type=list[str])

    def _dump(self, kept: list[str]) -> str:
        return _json(kept).decode()


class JsonColumn(Column[object]):
    """Any JSON value. Sealed, it is a text, which contains the JSON."""

    def seal(self, ring: KeyRing, plain: object, scope: str, item: str = "") -> object:
        return ring.seal_text(_json(plain).decode(), scope, self.detail(item))

    def open(self, ring: KeyRing, kept: object, scope: str, item: str = "") -> object:
        if not isinstance(kept, str):
            ring.refuse_plain()
            return kept
        plain = ring.open_text(kept, scope, self.detail(item))
        return kept if plain is kept else msgspec.json.decode(plain)

    def sealed_prefix(self, key: Key | None) -> bytes:
        return b'"' + (TEXT_MARK if key is None else key.text_head).encode()

    def _load(self, stored: bytes) -> object:
        return msgspec.json.decode(stored)

    def _dump(self, kept: object) -> bytes:
        return _json(kept)


EVENT_DATA = BytesColumn("run_events.data")
MESSAGE_TEXT, MESSAGE_SOURCES = TextColumn("messages.text"), ListColumn("messages.sources")
MESSAGE_PARTS = TextColumn("messages.parts")
THREAD_TITLE = TextColumn("threads.title")
FILE_NAME, CHUNK_DATA = TextColumn("files.name"), BytesColumn("file_chunks.data")
WAIT_INPUT = JsonColumn("approvals.input")  # of the table `waits`; values are bound to its first name
KEPT_EVENT_DATA = JsonColumn("kept_events.data")
PUSH_DATA = JsonColumn("pushes.data")
RUN_ERROR = TextColumn("runs.error")
FEEDBACK_COMMENT = TextColumn("feedback.comment")
CHECKPOINT_DATA = BytesColumn("checkpoints.data")
SNAPSHOT_DATA = BytesColumn("run_snapshots.data")  # derived: a change of keys deletes snapshots
BLOCK_CONTENT = TextColumn("memory_blocks.content")
PASSAGE_CONTENT, PASSAGE_TAGS = TextColumn("passages.content"), ListColumn("passages.tags")
LEDGER_CONTENT, LEDGER_INPUT = TextColumn("run_messages.content"), TextColumn("run_messages.tool_input")


class Table(Struct, frozen=True, kw_only=True):
    """A table with sealed columns, for statements that read and write it in the order of its key.

    `scope` and `item` are the fields that a row's values are bound to. `most`: rows in one batch, if they are large."""

    name: str
    columns: tuple[Column[Any], ...]
    key: tuple[str, ...] = ("id",)
    first: tuple[str | int, ...] = (FIRST_ID,)
    scope: str = "id"
    item: str | None = None
    most: int | None = None


TABLES = (
    Table(name="events", columns=(EVENT_DATA,), key=("run_id", "seq"), first=(FIRST_ID, 0), scope="run_id", item="id"),
    Table(name="messages", columns=(MESSAGE_TEXT, MESSAGE_SOURCES, MESSAGE_PARTS)),
    Table(name="titles", columns=(THREAD_TITLE,)),
    Table(name="files", columns=(FILE_NAME,)),
    Table(
        name="chunks",
        columns=(CHUNK_DATA,),
        key=("content_id", "no"),
        first=(FIRST_ID, -1),
        scope="content_id",
        item="no",
        most=16,
    ),
    Table(name="waits", columns=(WAIT_INPUT,), first=("",)),
    Table(
        name="kept_events",
        columns=(KEPT_EVENT_DATA,),
        key=("owner", "id"),
        first=("", ""),
        scope="owner",
        item="id",
    ),
    Table(name="pushes", columns=(PUSH_DATA,), key=("run_id", "id"), first=(FIRST_ID, ""), scope="run_id", item="id"),
    Table(  # the first event of a run that may begin
        name="steered",
        columns=(EVENT_DATA,),
        key=("message_id",),
        scope="next_run_id",
        item="id",
    ),
    Table(name="runs", columns=(RUN_ERROR,)),
    Table(name="feedback", columns=(FEEDBACK_COMMENT,)),
    Table(name="checkpoints", columns=(CHECKPOINT_DATA,)),
    Table(name="blocks", columns=(BLOCK_CONTENT,), scope="agent", item="label"),
    Table(name="passages", columns=(PASSAGE_CONTENT, PASSAGE_TAGS)),
    Table(name="ledger", columns=(LEDGER_CONTENT, LEDGER_INPUT), scope="run_id", item="id"),
)
