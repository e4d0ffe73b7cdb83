"""Intake ends: a post that the database cannot store fails, and the others of its commit are stored."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from msgspec.structs import replace

from runyard.errors import Unavailable, WriteRefused
from runyard.store import Accepted, Post
from runyard.stores.postgres import store as postgres_module
from runyard.stores.sqlite.connections import Writer, connect
from runyard.stores.transactions.queue import intake
from runyard.stores.transactions.tx import Tx
from tests.store.factories import ANN, a_post, a_thread, clock
from tests.store.raw_sql import OpenDatabase
from tests.support.eventually import PATIENCE

ORPHAN = "insert into feedback (run_id, value, created_at) values ('no run', 'up', 1)"


async def test_a_thread_that_is_never_found_refuses_its_post_only(
    database: OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a name that the database changes: the thread exists by that name, and is not found by it."""
    real = intake.with_threads

    async def never_found(tx: Tx, posts: dict[int, Post]) -> dict[int, Post]:
        lost = {n: post for n, post in posts.items() if post.thread is not None}
        return await real(tx, {n: post for n, post in posts.items() if n not in lost}) | lost

    monkeypatch.setattr(intake, "with_threads", never_found)
    thread, named = a_thread(), a_thread()
    await database.store.create_thread(thread)
    async with asyncio.timeout(PATIENCE):
        results = await database.store.accept([replace(a_post(named), thread=named), a_post(thread)])
    assert [type(result) for result in results] == [WriteRefused, Accepted]
    assert len(await database.store.list_runs(ANN, {}, None, 10)) == 1


async def test_on_sqlite_a_constraint_that_is_checked_at_the_end_fails_its_job_only(sqlite_path: Path) -> None:
    writer = Writer(connect(sqlite_path, clock, read_only=False))
    may_go = threading.Event()

    def wait(connection: sqlite3.Connection) -> None:
        may_go.wait(PATIENCE)

    def orphan(connection: sqlite3.Connection) -> None:
        connection.execute("pragma defer_foreign_keys = on")
        connection.execute(ORPHAN)

    def count(connection: sqlite3.Connection) -> Any:
        return connection.execute("select count(*) from feedback").fetchone()[0]

    first = asyncio.create_task(writer.submit(wait))
    others = [asyncio.create_task(writer.submit(job)) for job in (count, orphan, count)]
    await asyncio.sleep(0)  # all four are submitted; the three wait for the first and share a commit
    may_go.set()
    results: Sequence[Any] = await asyncio.gather(first, *others, return_exceptions=True)
    await asyncio.to_thread(writer.stop)
    assert [results[0], results[1], results[3]] == [None, 0, 0]
    assert isinstance(results[2], sqlite3.IntegrityError)


async def test_on_sqlite_a_statement_that_is_wrong_is_a_defect_and_a_locked_file_is_unavailable(
    sqlite_path: Path,
) -> None:
    def wrong(connection: sqlite3.Connection) -> None:
        connection.execute("select value from nowhere")

    def locked(connection: sqlite3.Connection) -> None:
        connection.execute("pragma query_only = on")
        connection.execute(ORPHAN)

    writer = Writer(connect(sqlite_path, clock, read_only=False))
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        await writer.submit(wrong)
    with pytest.raises(Unavailable):
        await writer.submit(locked)
    await asyncio.to_thread(writer.stop)


@pytest.mark.postgres
async def test_on_postgres_a_name_that_is_always_taken_is_a_defect_and_a_deadlock_is_unavailable() -> None:
    taken = asyncpg.UniqueViolationError("taken")
    taken.constraint_name = postgres_module.NAMED[0]

    for error, shown in ((taken, asyncpg.UniqueViolationError), (asyncpg.DeadlockDetectedError("busy"), Unavailable)):
        tries = 0

        async def attempt(error: Exception = error) -> None:
            nonlocal tries
            tries += 1
            raise error

        with pytest.raises(shown):
            await postgres_module._repeatedly(attempt)
        assert tries == postgres_module.TRIES
