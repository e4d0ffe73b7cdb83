"""Fixtures that give each test an empty database: a copy of a migrated SQLite file, or the session's Postgres
database with all rows deleted. Import them into a conftest; `backend` names the database."""

import asyncio
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.base.clock import SystemClock
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore
from tests.store.conftest import emptied, forget
from tests.support.servers.postgres_server import PostgresServer

__all__ = ["backend", "database_url", "migrated_postgres", "migrated_sqlite"]

BACKENDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


async def _open_once(store: SqliteStore | PostgresStore) -> None:
    await store.open()
    await store.close()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "runyard.db"
    asyncio.run(_open_once(SqliteStore(path, SystemClock())))
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> Iterator[str]:
    name = f"faces_{uuid.uuid4().hex}"
    dsn = postgres.create_database(name)
    asyncio.run(_open_once(PostgresStore(dsn, SystemClock())))
    yield dsn
    forget(dsn)
    postgres.drop_database(name)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """`sqlite` and `postgres`; a test where storage does not matter says `@pytest.mark.parametrize("backend",
    ["memory"])`."""
    return str(request.param)


@pytest.fixture
def database_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match backend:
        case "postgres":
            return emptied(str(request.getfixturevalue("migrated_postgres")))
        case "sqlite":
            file = shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "runyard.db")
            return f"sqlite:///{file}"
        case _:
            return f"sqlite:///{tmp_path}/unused.db"
