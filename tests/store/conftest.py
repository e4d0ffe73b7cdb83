"""One suite, every store: each test here runs on memory, SQLite (with and without seals) and Postgres.

The databases bring their schema up to date once per session; each test starts on a copy of the empty file, or on the
one Postgres database after everything in it was deleted.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from runyard.encryption.cipher import make, parse
from runyard.encryption.sealed_store import seal_store
from runyard.store import Store
from runyard.stores.memory import MemoryStore
from tests.store.factories import clock
from tests.store.raw_sql import OpenDatabase
from tests.support.servers.postgres_server import PostgresServer

STORES = ["memory", "sqlite", "sealed", pytest.param("postgres", marks=pytest.mark.postgres)]


def sqlite_store(path: Path) -> Store:
    from runyard.stores.sqlite.store import SqliteStore

    return SqliteStore(path, clock)


RING = parse(make("test"))


def sealed_store(path: Path) -> Store:
    from runyard.stores.sqlite.store import SqliteStore

    return seal_store(SqliteStore(path, clock, RING), RING)


def postgres_store(dsn: str) -> Store:
    from runyard.stores.postgres.store import PostgresStore

    return PostgresStore(dsn, clock)


async def empty(dsn: str) -> None:
    """Delete all rows: for small tables that is far quicker than a new database."""
    connection = await asyncpg.connect(dsn)
    await _delete_all(connection)
    await connection.close()


async def _delete_all(connection: asyncpg.Connection[Any]) -> None:
    tables = await connection.fetch(
        "select format('delete from %I;', relname) as delete from pg_class where relnamespace = 'public'::regnamespace"
        " and relkind in ('r', 'p') and not relispartition and relname not like 'alembic%'"
    )
    await connection.execute("".join(table["delete"] for table in tables))


class Emptier:
    """Empties one database again and again, over one connection: a new one would read the catalog of every table."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection[Any] | None = None

    def empty(self) -> str:
        """Delete all rows and return the address of the database."""
        self._runner.run(self._empty())
        return self._dsn

    async def _empty(self) -> None:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._dsn)
        await _delete_all(self._connection)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
        self._runner.close()


_emptiers: dict[str, Emptier] = {}


def emptied(dsn: str) -> str:
    """Empty the database, which several tests use in turn, and return its address. `forget` it before it is dropped."""
    if dsn not in _emptiers:
        _emptiers[dsn] = Emptier(dsn)
    return _emptiers[dsn].empty()


def forget(dsn: str) -> None:
    if emptier := _emptiers.pop(dsn, None):
        emptier.close()


async def _bring_up_to_date(store: Store) -> None:
    await store.open()
    await store.close()


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the schema and nothing in it: copy it."""
    path = tmp_path_factory.mktemp("empty") / "runyard.db"
    asyncio.run(_bring_up_to_date(sqlite_store(path)))
    return path


@pytest.fixture(scope="session")
def shared_postgres(postgres: PostgresServer) -> Iterator[str]:
    """A Postgres database with the schema, for one test after the other."""
    name = f"store_{uuid.uuid4().hex}"
    dsn = postgres.create_database(name)
    asyncio.run(_bring_up_to_date(postgres_store(dsn)))
    yield dsn
    forget(dsn)
    postgres.drop_database(name)


@pytest.fixture
def sqlite_path(empty_sqlite: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(empty_sqlite, tmp_path / "runyard.db"))


@pytest.fixture
def postgres_dsn(shared_postgres: str) -> str:
    return emptied(shared_postgres)


@pytest.fixture(params=STORES)
def connect(request: pytest.FixtureRequest) -> Callable[[], Store]:
    """Makes a store on the test's own database, each time it is called; memory has only one."""
    match request.param:
        case "sqlite":
            path = request.getfixturevalue("sqlite_path")
            return lambda: sqlite_store(path)
        case "sealed":
            sealed_path = request.getfixturevalue("sqlite_path")
            return lambda: sealed_store(sealed_path)
        case "postgres":
            dsn = request.getfixturevalue("postgres_dsn")
            return lambda: postgres_store(dsn)
        case _:
            memory = MemoryStore(clock)
            return lambda: memory


@pytest.fixture
async def store(connect: Callable[[], Store]) -> AsyncIterator[Store]:
    store = connect()
    await store.open()
    yield store
    await store.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_at(request: pytest.FixtureRequest) -> Path | str:
    """The file, or the address, of a database of the test's own."""
    found: Path | str = request.getfixturevalue("sqlite_path" if request.param == "sqlite" else "postgres_dsn")
    return found


@pytest.fixture
async def database(database_at: Path | str) -> AsyncIterator[OpenDatabase]:
    """A store on each database, which a test also reads by plain SQL."""
    store = sqlite_store(database_at) if isinstance(database_at, Path) else postgres_store(database_at)
    await store.open()
    yield OpenDatabase(store, database_at)
    await store.close()


@pytest.fixture
async def reopen(connect: Callable[[], Store], store: Store) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
    """Closes the store and opens it again, as a process does that is restarted."""
    opened: list[Store] = []

    async def reopen() -> Store:
        await store.close()
        opened.append(connect())
        await opened[-1].open()
        return opened[-1]

    yield reopen
    for again in opened:
        await again.close()
