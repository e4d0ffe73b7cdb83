"""The store on Postgres: any number of processes on one database.

Every script locks its lanes and then its runs, in order, and decides on what it reads after that (READ COMMITTED takes
a new snapshot per statement). Deadlines use the database's clock. The log, intake, claims and leases have their own
connections; everything else shares a pool. A lost connection raises `Unavailable`: it is unknown whether the commit
happened, so the caller repeats, and batch numbers and idempotency keys make that safe.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import asyncpg

from runyard.base.clock import Clock, SteadyClock
from runyard.domain.runs.append import Finish, Part
from runyard.domain.runs.publication import CursorAdvance
from runyard.errors import ClockAhead, DiskFull, StartupError, Unavailable
from runyard.store import Accepted, Post, Room
from runyard.stores import keys_in_use, migrations
from runyard.stores import queries as _queries
from runyard.stores import rows as _rows
from runyard.stores.full_disk import FullDisk
from runyard.stores.operations import P, Purpose, Script, T
from runyard.stores.postgres.accepting import PlainPosts
from runyard.stores.postgres.arrays import columns
from runyard.stores.postgres.connections import AWAY, Connections, Limits
from runyard.stores.sql_store import SqlStore, WrittenPart
from runyard.stores.transactions.queue.intake import CLOCK_TOLERANCE_MS
from runyard.stores.transactions.tx import Tx, Write

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

SHARED = 8  # connections for everything without a reserved one
ANSWER_SECONDS = 15.0
TRIES = 4
# Unique names that another process may have inserted a moment ago.
NAMED = ("runs_external", "messages_cause", "passages_cause", "threads_name", "file_contents_digest")
_PARAMETER = re.compile(r"\$(\d+)")
_AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


@cache
def one_statement(writes: tuple[str, ...]) -> str:
    """Combine writes that return nothing into one statement with common table expressions, and renumber parameters."""
    parts, used = [], 0
    for number, sql in enumerate(writes):
        given = {int(n) for n in _PARAMETER.findall(sql)}
        renumbered = _PARAMETER.sub(lambda found, used=used: f"${int(found[1]) + used}", sql.strip().rstrip(";"))  # type: ignore[misc]
        parts.append(f"w{number} as ({renumbered})")
        used += max(given)
    return f"with {', '.join(parts)} select 1"


async def _repeatedly(attempt: Callable[[], Awaitable[T]]) -> T:
    """Retry after a deadlock or a serialization failure, or if another process inserted the same name first."""
    for left in reversed(range(TRIES)):
        try:
            return await attempt()
        except _AGAIN:
            pass
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name not in NAMED or not left:
                raise
    raise Unavailable("The database is too busy. Try again.")


@asynccontextmanager
async def _transaction(connection: "asyncpg.Connection[Any]") -> AsyncIterator[None]:
    """A transaction that is committed at the end, and rolled back if the block raises.

    A cancel is passed on at once: the caller ends the connection, and Postgres rolls back. A ROLLBACK over a broken
    connection would raise its own error in place of the cancel."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        yield
    except TimeoutError:
        raise  # the connection is silent, so a ROLLBACK would have no answer either
    except Exception:
        await transaction.rollback()
        raise
    await transaction.commit()


async def _clock(tx: Tx) -> Sequence[_rows.Row]:
    return await tx.rows(tx.q.clock)


class PostgresTx:
    q = _queries.load("postgres")

    def __init__(self, connection: "asyncpg.Connection[Any]") -> None:
        self._connection = connection

    async def rows(self, sql: str, *params: Any) -> Sequence[_rows.Row]:
        return await self._connection.fetch(sql, *params)

    async def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[_rows.Row]:
        """Run one statement for all rows: each column is an array parameter."""
        return await self._connection.fetch(sql, *columns(rows))

    async def together(self, *writes: Write) -> None:
        """Run all writes in one round trip."""
        wanted = [(sql, rows) for sql, rows in writes if rows]
        if wanted:
            params = [column for _, rows in wanted for column in columns(rows)]
            await self._connection.fetch(one_statement(tuple(sql for sql, _ in wanted)), *params)


def _ends(parts: Sequence[Part]) -> list[str | None]:
    """Return the lanes of a group and the ends of its runs."""
    return columns([(part.lane_key, *_rows.finish_values(part.move)) for part in parts])


def _answers(parts: Sequence[Part]) -> list[str | None]:
    """Return the answers of runs that end, each with the number of its part."""
    answers = [(no, part.move.answer) for no, part in enumerate(parts, 1) if isinstance(part.move, Finish)]
    return columns([(no, *_rows.message_values(said)) for no, said in answers if said is not None]) or [None] * 9


class PostgresStore(SqlStore):
    hot_path = _queries.hot_path("postgres")

    def __init__(
        self, dsn: str, clock: Clock, ring: "KeyRing | None" = None, *, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        """`answer_seconds`: how long a statement of the hot path may take. Other statements get more time."""
        self._dsn = dsn
        self._ring = ring
        self._clock = clock
        sizes: dict[Purpose, int] = {"log": 2, "intake": 1, "claims": 1, "lease": 1}
        lock, long = answer_seconds * 2 / 3, answer_seconds * 2
        hot, other = Limits(answer_seconds, long, lock), Limits(long + lock, long, lock)
        self._lines = {purpose: Connections(dsn, size, hot) for purpose, size in sizes.items()}
        self._lines["other"] = Connections(dsn, SHARED, other)
        # a cursor that a power cut sets back is advanced again, and readers see no difference
        self._lines["outbox"] = Connections(dsn, 1, hot, synchronous_commit="off")
        self._is_open = False
        self._full_disk = FullDisk(clock)

    async def open(self) -> None:
        try:
            connection = await asyncpg.connect(self._dsn, timeout=10)
            try:
                version = await connection.fetchval(migrations.VERSION_QUERY)
            except asyncpg.UndefinedTableError:
                version = None
            finally:
                await connection.close()
        except AWAY as error:
            raise StartupError(
                f"Postgres does not answer ({type(error).__name__}). "
                "Check RUNYARD_DATABASE_URL and that the server runs."
            ) from None
        except (asyncpg.PostgresError, ValueError) as error:
            raise StartupError(
                f"Postgres refused the connection ({type(error).__name__}); check RUNYARD_DATABASE_URL."
            ) from None
        await migrations.bring_up_to_date(self._dsn, version)
        self._is_open = True
        try:
            await self._check_clock()
            await keys_in_use.check(self, self._ring)
        except StartupError:
            await self.close()
            raise
        await self.maintain()

    async def _check_clock(self) -> None:
        """Raise StartupError if this server's clock is far ahead: ids come from it, and events would go into later
        partitions."""
        [row] = await self._read(_clock)
        if self._clock.now_ms() > row["now"] + CLOCK_TOLERANCE_MS:
            raise StartupError(ClockAhead().message)

    async def maintain(self) -> None:
        """Create the partitions of the next weeks, and set the clock of this process to the database's."""
        await super().maintain()
        if isinstance(self._clock, SteadyClock):
            [row] = await self._read(_clock)
            self._clock.set(row["now"])

    async def close(self) -> None:
        self._is_open = False
        await asyncio.gather(*(line.close() for line in self._lines.values()))

    def _match_all(self, words: Sequence[str]) -> str:
        return " & ".join(f"'{word}':*" for word in words)

    def _match_title(self, words: Sequence[str]) -> str:
        return self._match_all(words)

    def _match_any(self, words: Sequence[str]) -> str:
        return " | ".join(f"'{word}'" for word in words)

    async def _write(self, purpose: Purpose, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async def attempt() -> T:
            async with self._connection(purpose) as connection, _transaction(connection):
                return await script(PostgresTx(connection), *args, **kwargs)

        return await _repeatedly(attempt)

    async def _write_one(self, purpose: Purpose, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async def attempt() -> T:
            async with self._connection(purpose) as connection:
                return await script(PostgresTx(connection), *args, **kwargs)

        return await _repeatedly(attempt)

    async def _read(self, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with self._connection("other") as connection:
            return await script(PostgresTx(connection), *args, **kwargs)

    async def _accept_fast(self, posts: Sequence[Post], room: Room | None) -> Sequence[Accepted] | None:
        plain = PlainPosts.of(posts, room)
        if plain is None:
            return None

        async def attempt() -> Sequence[_rows.Row]:
            async with self._connection("intake") as connection:
                return await connection.fetch(self.hot_path["accept"], *plain.values())

        try:
            rows = await _repeatedly(attempt)
        except asyncpg.NotNullViolationError:
            return None  # a thread or a lane changed while the statement waited for it
        return plain.results(rows) if rows else None

    async def _append_fast(self, parts: Sequence[Part]) -> Mapping[int, WrittenPart]:
        heads = columns([(p.run_id, p.fence, p.batch, len(p.drafts), p.makes_progress) for p in parts])
        events = columns(
            [
                (no, n, d.id, d.ts, d.type, d.source, d.name, d.fn, d.data)
                for no, part in enumerate(parts, 1)
                for n, d in enumerate(part.drafts, 1)
            ]
        ) or [None] * 9  # fmt: skip
        if all(part.move is None for part in parts):
            statement, values = self.hot_path["append"], [*heads, *events]
        else:
            statement, values = self.hot_path["append_and_finish"], [*heads, *_ends(parts), *events, *_answers(parts)]

        async def attempt() -> Sequence[_rows.Row]:
            async with self._connection("log") as connection:
                return await connection.fetch(statement, *values)

        rows = await _repeatedly(attempt)
        return {row["no"] - 1: WrittenPart(row["base"], row["cancel"], row["ready"], row["unread"]) for row in rows}

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        values = columns([(mark.run_id, mark.upto, mark.turn, mark.state) for mark in marks])

        async def attempt() -> Sequence[_rows.Row]:
            async with self._connection("outbox") as connection:
                return await connection.fetch(self.hot_path["publish"], *values)

        return [str(row["run_id"]) for row in await _repeatedly(attempt)] if marks else []

    @asynccontextmanager
    async def _connection(self, purpose: Purpose) -> "AsyncIterator[asyncpg.Connection[Any]]":
        if not self._is_open:
            raise Unavailable("The store is closed.")
        line = self._lines[purpose]
        try:
            connection = await line.take()
            try:
                yield connection
            except asyncio.CancelledError:
                connection.terminate()  # a statement may be running; the next caller gets a new connection
                raise
            except TimeoutError:
                self._network_went_silent(connection)
                raise
            except asyncpg.InterfaceError as error:
                if connection.is_closed():
                    raise Unavailable("Postgres closed the connection.") from error
                raise
            finally:
                line.give_back(connection)
        except asyncpg.DiskFullError as error:
            full = DiskFull()
            self._full_disk.record(full)
            raise full from error
        except AWAY as error:
            raise Unavailable(f"Postgres is not available ({type(error).__name__}).") from error

    def _network_went_silent(self, connection: "asyncpg.Connection[Any]") -> None:
        """Drop this connection and the idle ones: the network is silent, so none of them can be trusted."""
        connection.terminate()
        for line in self._lines.values():
            line.drop_idle()
