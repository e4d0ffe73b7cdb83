"""Postgres: any number of processes on one database.

Locks, not luck: every script locks its lanes and then its runs, in order, and decides on what it then reads (READ
COMMITTED takes a new snapshot per statement). Deadlines use the database's clock. The log, intake, claims and leases
each have a connection of their own; everything else shares a pool. A lost connection is `Unavailable`, never a guess
about whether the commit happened: the caller repeats, and batch numbers and idempotency keys make that safe.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from runyard.clock import Clock
from runyard.domain.append import Part
from runyard.errors import StartupError, Unavailable
from runyard.stores import _queries, _rows, migrations
from runyard.stores._sql import Channel, P, Script, SqlStore, T, Tip

POOL = 8
TRIES = 4
SETTINGS = {
    "application_name": "runyard",
    "jit": "off",
    "idle_in_transaction_session_timeout": "10s",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
}
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.LockNotAvailableError,
    asyncpg.InterfaceError,
    OSError,
    TimeoutError,
)
_AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


class PostgresTx:
    q = _queries.load("postgres")

    def __init__(self, connection: "asyncpg.Connection[Any]") -> None:
        self._connection = connection

    async def rows(self, sql: str, *params: Any) -> Sequence[_rows.Row]:
        return await self._connection.fetch(sql, *params)

    async def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[_rows.Row]:
        """One statement for all rows: their columns go over as arrays."""
        return await self._connection.fetch(sql, *zip(*rows, strict=True))


class PostgresStore(SqlStore):
    def __init__(self, dsn: str, clock: Clock) -> None:
        self._dsn = dsn
        self._clock = clock
        self._links: dict[Channel, _Link] = {channel: _Link(dsn) for channel in ("log", "intake", "claims", "lease")}
        self._pool: asyncpg.Pool[Any] | None = None

    async def open(self) -> None:
        try:
            connection = await asyncpg.connect(self._dsn, timeout=10)
            try:
                version = await connection.fetchval(migrations.VERSION_QUERY)
            except asyncpg.UndefinedTableError:
                version = None
            finally:
                await connection.close()
        except _AWAY as error:
            raise StartupError(
                f"Postgres does not answer ({type(error).__name__}). "
                "Check RUNYARD_DATABASE_URL and that the server runs."
            ) from None
        except (asyncpg.PostgresError, ValueError) as error:
            raise StartupError(f"Postgres refused the connection ({type(error).__name__}).") from None
        await migrations.bring_up_to_date(self._dsn, version)
        self._pool = await asyncpg.create_pool(self._dsn, min_size=1, max_size=POOL, server_settings=SETTINGS)
        await self.tend()

    async def close(self) -> None:
        for link in self._links.values():
            await link.close()
        if self._pool is not None:
            self._pool.terminate() if self._pool.is_closing() else await _close(self._pool)
        self._pool = None

    def _match(self, words: Sequence[str]) -> str:
        return " | ".join(f"'{word}'" for word in words)

    async def _write(self, channel: Channel, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(TRIES):
            try:
                async with self._connection(channel) as connection, connection.transaction():
                    return await script(PostgresTx(connection), *args, **kwargs)
            except _AGAIN:
                if attempt == TRIES - 1:
                    raise Unavailable("The database was too busy; try again.") from None
        raise AssertionError("unreachable")

    async def _read(self, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with self._connection("other") as connection:
            return await script(PostgresTx(connection), *args, **kwargs)

    async def _append_plain(self, parts: Sequence[Part]) -> Mapping[int, Tip]:
        heads = [(p.run_id, p.fence, p.batch, len(p.drafts), p.makes_progress) for p in parts]
        events = [
            (no, n, d.id, d.ts, d.type, d.source, d.name, d.fn, d.data)
            for no, part in enumerate(parts, 1)
            for n, d in enumerate(part.drafts, 1)
        ]
        if not events:
            return {}
        async with self._connection("log") as connection:
            rows = await connection.fetch(PostgresTx.q.append, *zip(*heads, strict=True), *zip(*events, strict=True))
        return {row["no"] - 1: (row["base"], row["cancel"]) for row in rows}

    @asynccontextmanager
    async def _connection(self, channel: Channel) -> "AsyncIterator[asyncpg.Connection[Any]]":
        if self._pool is None:
            raise Unavailable("The store is closed.")
        try:
            if channel == "other":
                async with self._pool.acquire() as connection:
                    yield connection  # type: ignore[misc]
            else:
                async with self._links[channel].connection() as connection:
                    yield connection
        except _AWAY as error:
            raise Unavailable(f"Postgres is not available ({type(error).__name__}).") from error


async def _close(pool: "asyncpg.Pool[Any]") -> None:
    try:
        await asyncio.wait_for(pool.close(), 5)
    except TimeoutError:
        pool.terminate()


class _Link:
    """One connection for one purpose, used by one caller at a time, made anew when it is lost."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._lock = asyncio.Lock()
        self._open: asyncpg.Connection[Any] | None = None

    @asynccontextmanager
    async def connection(self) -> "AsyncIterator[asyncpg.Connection[Any]]":
        async with self._lock:
            if self._open is None or self._open.is_closed():
                self._open = await asyncpg.connect(self._dsn, timeout=10, server_settings=SETTINGS)
            yield self._open

    async def close(self) -> None:
        if self._open is not None and not self._open.is_closed():
            await self._open.close(timeout=5)
        self._open = None
