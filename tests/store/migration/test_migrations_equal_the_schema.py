"""All migrations together give the schema of `schema.sql`, and `HEAD` is the newest one."""

import sqlite3
from pathlib import Path

import asyncpg
import pytest

from runyard.base.clock import SystemClock
from runyard.stores import migrations
from runyard.stores.migrations import upgrade
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.queries import FOLDER
from runyard.stores.sqlite.store import SqliteStore
from tests.store.migration import catalogs
from tests.support.servers.postgres_server import PostgresServer


async def opened(store: SqliteStore | PostgresStore) -> None:
    await store.open()
    await store.close()


@pytest.mark.req("S0.39", "S4.44", "S4.45")
async def test_on_sqlite_the_migrations_make_the_schema(tmp_path: Path) -> None:
    migrated, written = tmp_path / "migrated.db", tmp_path / "written.db"
    await opened(SqliteStore(migrated, SystemClock()))
    connection = sqlite3.connect(written)
    connection.executescript((FOLDER / "sqlite" / "schema.sql").read_text())
    connection.close()
    found = catalogs.of_sqlite(migrated)
    assert found == catalogs.of_sqlite(written)
    assert {"runs", "run_events", "lanes", "threads"} <= {name for _, name, _, _ in found["objects"]}


@pytest.mark.req("S0.39", "S4.44", "S4.45")
async def test_on_postgres_the_migrations_make_the_schema(postgres: PostgresServer, pg_database: str) -> None:
    await opened(PostgresStore(pg_database, SystemClock()))
    name = pg_database.rpartition("/")[2] + "_written"
    written = postgres.create_database(name)
    try:
        connection = await asyncpg.connect(written)
        await connection.execute((FOLDER / "postgres" / "schema.sql").read_text())
        await connection.close()
        found, expected = await catalogs.of_postgres(pg_database), await catalogs.of_postgres(written)
    finally:
        postgres.drop_database(name)
    for part in found:
        assert found[part] == expected[part], part
    assert {"runs", "run_events", "lanes", "threads"} <= {row[0] for row in found["tables"]}
    assert found["functions"]


@pytest.mark.req("S0.39")
def test_the_head_that_the_program_knows_is_alembics() -> None:
    assert upgrade.heads() == [migrations.HEAD]


def test_every_revision_has_its_script_for_both_databases() -> None:
    versions = migrations.FOLDER / "versions"
    names = sorted(path.stem for path in versions.glob("[0-9]*.py"))
    assert names
    for dialect in ("sqlite", "postgres"):
        assert sorted(path.name.removesuffix(f".{dialect}.sql") for path in versions.glob(f"*.{dialect}.sql")) == names


async def test_the_version_is_known_without_changing_anything(tmp_path: Path, pg_database: str) -> None:
    from runyard.stores.migrations.current import current

    path = tmp_path / "runyard.db"
    assert await current(f"sqlite:///{path}") is None
    assert not path.exists()
    assert await current(pg_database) is None
    await opened(SqliteStore(path, SystemClock()))
    await opened(PostgresStore(pg_database, SystemClock()))
    assert await current(f"sqlite:///{path}") == migrations.HEAD
    assert await current(pg_database) == migrations.HEAD
