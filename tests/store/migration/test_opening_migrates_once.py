"""Opening a database migrates it: once, by the first process, and never backwards."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from runyard.base.clock import SystemClock
from runyard.errors import StartupError
from runyard.store import Store
from runyard.stores import migrations
from runyard.stores.migrations import upgrade
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore
from tests.store.migration import catalogs
from tests.support.eventually import PATIENCE

OPEN = """
import asyncio, sys
from pathlib import Path
from runyard.settings import Settings
from runyard.app.factories import open_store

async def main():
    store = open_store(Settings(database_url=sys.argv[1]))
    await store.open()
    await store.ping()
    await store.close()

asyncio.run(main())
heavy = {"alembic", "sqlalchemy"} & set(sys.modules)
print(",".join(sorted(heavy)) or "light")
"""


def opened_elsewhere(url: str) -> "subprocess.Popen[str]":
    """Another process that opens the database and says which heavy modules it needed."""
    return subprocess.Popen(
        [sys.executable, "-c", OPEN, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out.strip()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that is not there yet, or empty."""
    if request.param == "postgres":
        return str(request.getfixturevalue("pg_database"))
    return f"sqlite:///{tmp_path}/new folder/runyard.db"


def store_of(url: str) -> Store:
    if url.startswith("sqlite"):
        return SqliteStore(Path(url.removeprefix("sqlite:///")), SystemClock())
    return PostgresStore(url, SystemClock())


async def execute(url: str, sql: str) -> None:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.execute(sql)
        connection.commit()
        connection.close()
    else:
        postgres = await asyncpg.connect(url)
        await postgres.execute(sql)
        await postgres.close()


async def catalog(url: str) -> catalogs.Catalog:
    if url.startswith("sqlite"):
        return catalogs.of_sqlite(Path(url.removeprefix("sqlite:///")))
    return await catalogs.of_postgres(url)


@pytest.mark.req("S0.39")
async def test_a_second_opening_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = store_of(url)
    await first.open()
    await first.close()
    before = await catalog(url)

    def never(url: str, revision: str = "head") -> None:
        raise AssertionError("migrated again")

    monkeypatch.setattr(upgrade, "upgrade", never)
    again = store_of(url)
    await again.open()
    await again.close()
    assert await catalog(url) == before


async def test_alembic_is_imported_only_when_there_is_something_to_do(url: str) -> None:
    assert await asyncio.to_thread(lambda: said(opened_elsewhere(url))) == "alembic,sqlalchemy"
    assert await asyncio.to_thread(lambda: said(opened_elsewhere(url))) == "light"


async def test_processes_that_open_one_empty_database_together_migrate_it_once(pg_database: str) -> None:
    processes = [opened_elsewhere(pg_database) for _ in range(3)]
    for process in processes:
        assert await asyncio.to_thread(said, process) in ("alembic,sqlalchemy", "light")
    connection = await asyncpg.connect(pg_database)
    assert [row[0] for row in await connection.fetch(migrations.VERSION_QUERY)] == [migrations.HEAD]
    await connection.close()


async def test_a_database_from_the_future_is_refused_in_one_sentence_and_left_alone(url: str) -> None:
    store = store_of(url)
    await store.open()
    await store.close()
    await execute(url, "update alembic_version set version_num = '9999'")
    before = await catalog(url)
    late = store_of(url)
    with pytest.raises(StartupError) as refused:
        await late.open()
    await late.close()
    assert "9999" in refused.value.message
    assert migrations.HEAD in refused.value.message
    assert "\n" not in refused.value.message
    assert await catalog(url) == before


async def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "runyard.db"
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(StartupError) as refused:
        await SqliteStore(path, SystemClock()).open()
    assert "\n" not in refused.value.message
    assert path.read_bytes() == b"this is not a database" * 100
