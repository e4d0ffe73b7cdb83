"""The store on SQLite: one process, one file, one writer.

A thread owns the only read-write connection and commits all waiting scripts together, each in a savepoint, so that a
script that fails undoes only itself. Commits are `synchronous=FULL`, so committed data survives a power cut; with
`NORMAL` the newest commits may not. Reads use short snapshots on read-only connections. A lock file keeps a second
process out, because two writers of one file are not safe with every SQLite version in use.
"""

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from runyard.base.clock import Clock
from runyard.domain.conversations.thread import Message
from runyard.domain.runs.append import Finish, Part
from runyard.domain.runs.publication import CursorAdvance
from runyard.errors import DiskFull, StartupError, Unavailable
from runyard.stores import keys_in_use, migrations
from runyard.stores import queries as _queries
from runyard.stores import rows as _rows
from runyard.stores.full_disk import FullDisk
from runyard.stores.operations import P, Purpose, Script, T
from runyard.stores.sql_store import SqlStore, WrittenPart
from runyard.stores.sqlite.connections import Readers, Synchronous, Writer, connect, translated
from runyard.stores.sqlite.files import DatabaseLock, make_database
from runyard.stores.transactions.tx import Tx, Write

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

MOST_ROWS = 512  # in one insert
_json = msgspec.json.Encoder().encode


_VALUES = re.compile(r"values\s*\(((?:\?\d+(?:, )?)+)\)\s*;?\s*$")


@cache
def widened(sql: str, count: int) -> str:
    """Return an `insert ... values (?1, ?2);` statement for `count` rows."""
    row = "(" + ", ".join("?" * _VALUES.search(sql)[1].count("?")) + ")"  # type: ignore[index]
    return _VALUES.sub(lambda _: "values " + ", ".join([row] * count), sql)


class SqliteTx:
    """A transaction on SQLite. Statements run synchronously, so a script never waits."""

    q = _queries.load("sqlite")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def rows(self, sql: str, *params: Any) -> Sequence[_rows.Row]:
        return self._connection.execute(
            sql, [_json(p).decode() if isinstance(p, list) else p for p in params]
        ).fetchall()

    async def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[_rows.Row]:
        if "returning" not in sql:
            self._execute_many(sql, rows)
            return []
        return [row for params in rows for row in self._connection.execute(sql, params).fetchall()]

    async def together(self, *writes: Write) -> None:
        for sql, rows in writes:
            self._execute_many(sql, rows)

    def _execute_many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert many rows per statement, so that SQLite does not take Python's lock for each row."""
        done = 0
        while (left := len(rows) - done) > 1 and _VALUES.search(sql):
            count = min(MOST_ROWS, 1 << left.bit_length() - 1)  # a power of two, so that there are few statements
            self._connection.execute(widened(sql, count), list(chain.from_iterable(rows[done : done + count])))
            done += count
        self._connection.executemany(sql, rows[done:])


_HOT = _queries.hot_path("sqlite")


async def _append(tx: Tx, parts: Sequence[Part]) -> Mapping[int, WrittenPart]:
    written: dict[int, WrittenPart] = {}
    events: list[tuple[Any, ...]] = []
    answers: list[Message] = []
    for n, part in enumerate(parts):
        values = (part.run_id, part.fence, part.batch, len(part.drafts), part.makes_progress)
        if isinstance(part.move, Finish):
            rows = await tx.rows(_HOT["append_and_finish"], *values, *_rows.finish_values(part.move))
            freed = await tx.rows(_HOT["free_lane"], part.lane_key, part.run_id) if rows else []
            answers += [part.move.answer] if rows and part.move.answer is not None else []
        else:
            rows, freed = await tx.rows(_HOT["append"], *values), []
        for row in rows:
            ready = any(lane["ready"] for lane in freed)
            written[n] = WrittenPart(row["base"], bool(row["cancel"]), ready, row["unread"])
            events += _rows.event_values(part.run_id, part.fence, row["base"] + 1, part.drafts)
    await tx.together(
        (tx.q.write_events, events), (tx.q.insert_messages, [_rows.message_values(answer) for answer in answers])
    )
    return written


async def _publish(tx: Tx, marks: Sequence[CursorAdvance]) -> None:
    await tx.together(
        (_HOT["date_publication"], [(mark.run_id, mark.upto) for mark in marks]),
        (_HOT["advance_outbox"], [(mark.run_id, mark.upto, mark.turn, mark.state) for mark in marks]),
        (_HOT["move_state"], [(mark.run_id, mark.state) for mark in marks if mark.state is not None]),
    )


class SqliteStore(SqlStore):
    def __init__(
        self, path: Path, clock: Clock, ring: "KeyRing | None" = None, *, synchronous: Synchronous = "full"
    ) -> None:
        self._path = path.resolve()  # the lock file is beside the database, not beside a link to it
        self._clock = clock
        self._ring = ring
        self._synchronous = synchronous
        self._full_disk = FullDisk(clock)
        self._lock: DatabaseLock | None = None
        self._writer: Writer | None = None
        self._readers: Readers | None = None

    async def open(self) -> None:
        make_database(self._path)
        self._lock = DatabaseLock(self._path)
        try:
            await migrations.bring_up_to_date(f"sqlite:///{self._path}", self._version())
        except sqlite3.DatabaseError:
            self._lock.close()
            raise StartupError(
                f"{self._path} is not an SQLite database; set RUNYARD_DATABASE_URL to another file."
            ) from None
        self._writer = Writer(connect(self._path, self._clock, read_only=False, synchronous=self._synchronous))
        self._readers = Readers(lambda: connect(self._path, self._clock, read_only=True))
        try:
            await keys_in_use.check(self, self._ring)
        except StartupError:
            await self.close()
            raise
        await self._expire_leases()

    async def _expire_leases(self) -> None:
        """Expire the leases of all workers: this process alone has the file, so they are dead, and their runs need not
        wait."""
        for worker in await self.list_workers():
            await self.heartbeat(worker.id, -1)

    async def close(self) -> None:
        """Close every connection, the writer's last. It then moves the write-ahead log into the database.

        A connection that stayed open would continue with a log that the next process deletes, and this process would
        read old data from it."""
        writer, readers, lock = self._writer, self._readers, self._lock
        self._writer = self._readers = self._lock = None
        if readers is not None:
            await asyncio.to_thread(readers.stop)
        if writer is not None:
            await asyncio.to_thread(writer.stop)
        if lock is not None:
            lock.close()

    async def scrub(self) -> None:
        """Rewrite the file: free pages still contain old values."""
        await asyncio.to_thread(self._rewrite)

    def _rewrite(self) -> None:
        connection = connect(self._path, self._clock, read_only=False)
        try:
            indexes = SqliteTx.q.index_passages, SqliteTx.q.index_messages
            for statement in (*indexes, "vacuum", *indexes):  # vacuum changes row numbers
                connection.execute(statement)
            connection.execute("pragma wal_checkpoint(truncate)")
        finally:
            connection.close()

    def _version(self) -> str | None:
        if not self._path.exists():
            return None
        connection = connect(self._path, self._clock, read_only=False)
        try:
            row = connection.execute(migrations.VERSION_QUERY).fetchone()
            return cast(str, row[0]) if row else None
        except sqlite3.OperationalError:
            return None
        finally:
            connection.close()

    def _match_all(self, words: Sequence[str]) -> str:
        return " AND ".join(f'"{word}"*' for word in words)

    def _match_title(self, words: Sequence[str]) -> str:
        return " ".join(words)

    def _match_any(self, words: Sequence[str]) -> str:
        return " OR ".join(f'"{word}"' for word in words) or '""'

    async def _write(self, purpose: Purpose, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._writer is None:
            raise Unavailable("The store is closed.")

        def job(connection: sqlite3.Connection) -> T:
            return _straight_through(script(SqliteTx(connection), *args, **kwargs))

        try:
            return await self._writer.submit(job)
        except DiskFull as error:
            self._full_disk.record(error)
            raise

    async def _read(self, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._readers is None:
            raise Unavailable("The store is closed.")

        def job(connection: sqlite3.Connection) -> T:
            try:
                return _straight_through(script(SqliteTx(connection), *args, **kwargs))
            except sqlite3.OperationalError as error:
                shown = translated(error)
                raise shown from (None if shown is error else error)

        return await self._readers.submit(job)

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        """Advance cursors. With one writer no row is locked, so none is skipped."""
        await self._write("outbox", _publish, marks)
        return []

    async def _append_fast(self, parts: Sequence[Part]) -> Mapping[int, WrittenPart]:
        return await self._write("log", _append, parts)


def _straight_through(script: Awaitable[T]) -> T:
    """Run a coroutine that never waits, and return its result."""
    coroutine = cast(Coroutine[Any, Any, T], script)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    coroutine.close()
    raise RuntimeError("A transaction script waited for something other than the database.")
