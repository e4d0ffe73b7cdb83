"""A full disk of the database has its own error, for callers and for readiness."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from runyard.base.clock import SystemClock
from runyard.errors import DiskFull
from runyard.stores import full_disk as _full_disk
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore
from tests.store.factories import a_post, a_thread, post


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "runyard.db", SystemClock())
    await store.open()
    yield store
    await store.close()


def pages(store: SqliteStore, more: int | None) -> None:
    """Let the database grow by so many pages, or (None) without a limit."""
    assert store._writer is not None
    connection = store._writer._connection
    [used] = connection.execute("pragma page_count").fetchone()
    connection.execute(f"pragma max_page_count = {2**31 if more is None else used + more}")


async def test_on_sqlite_a_write_without_room_is_disk_full_and_the_next_one_with_room_goes_on(
    sqlite: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await sqlite.create_thread(a_thread())
    await sqlite.check_disk()
    pages(sqlite, 0)
    with pytest.raises(DiskFull, match="Disk full"):
        await post(sqlite, a_post(thread, "x" * 200_000))
    with pytest.raises(DiskFull, match="Disk full"):
        await sqlite.check_disk()
    await sqlite.ping()  # reading is possible
    pages(sqlite, None)
    run_id = await post(sqlite, a_post(thread, "x" * 200_000))
    assert [run.id for run in await sqlite.list_runs("ann", {}, None, 10)] == [run_id], "nothing of the first is left"
    monkeypatch.setattr(_full_disk, "REMEMBERED_SECONDS", 0.0)
    await sqlite.check_disk()


async def test_on_postgres_the_drivers_disk_full_error_which_is_faked_here_is_disk_full(
    pg_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(pg_database, SystemClock())
    await store.open()
    try:
        await store.check_disk()

        async def full(*_: Any, **__: Any) -> None:
            raise asyncpg.DiskFullError("could not extend file: No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(asyncpg.Connection, "fetch", full)
            with pytest.raises(DiskFull, match="Disk full"):
                await post(store)
        with pytest.raises(DiskFull, match="Disk full"):
            await store.check_disk()
        await store.ping()
        await post(store)
        monkeypatch.setattr(_full_disk, "REMEMBERED_SECONDS", 0.0)
        await store.check_disk()
    finally:
        await store.close()
