"""A rare status among many runs, and names that clients gave, are found by an index: plans of both databases."""

import asyncio
import sqlite3
from pathlib import Path

import asyncpg
import pytest

from runyard.stores.queries import load

MANY = 20_000


def test_sqlite_finds_runs_of_a_status_by_an_index(sqlite_path: Path) -> None:
    database = sqlite3.connect(sqlite_path)
    asked = f"explain query plan {load('sqlite').list_runs_by_status}"
    plan = " ".join(str(row) for row in database.execute(asked, ("ann", None, None, 50, "error")))
    database.close()
    assert "runs_owner_status (owner=? AND status=? AND id<?)" in plan
    assert "TEMP B-TREE" not in plan, "no sort"


LISTS = [
    ("list_runs_by_status", "'ann', {before}, null, 50, 'error'", "runs_owner_status"),
    ("list_thread_runs", "'ann', {before}, null, 50, '{thread}', null, null", "runs_thread"),
    ("list_thread_runs", "'ann', {before}, null, 50, '{thread}', 'done', null", "runs_thread"),
    ("list_waiting_thread_runs", "'ann', {before}, null, 50, '{thread}'", "runs_thread_waiting"),
    ("list_open_thread_runs", "'ann', '{thread}'", "runs_thread"),
    ("list_ended_thread_runs", "'ann', null, null, 50, null, null, '{thread}'", "runs_thread"),
]
THREAD = "01a1e502-962c-73c6-82d2-3a662520fc9a"


@pytest.mark.postgres
@pytest.mark.parametrize("before", ["null", f"'{THREAD}'"])
def test_postgres_finds_runs_of_a_status_or_a_thread_by_an_index(postgres_dsn: str, before: str) -> None:
    async def look() -> list[str]:
        connection = await asyncpg.connect(postgres_dsn)
        await connection.execute(
            "insert into threads (id, owner, kind, agent, created_at)"
            " select lpad(n::text, 32, '0')::uuid, 'ann', 'chat', 'a', n from generate_series(0, 99) n"
        )
        await connection.execute(
            "insert into runs (id, owner, face, lane_key, pos, agent, status, created_at, finished_at, thread_id)"
            " select gen_random_uuid(), 'ann', 'native', 'run:' || n, n, 'a', case when n % 5000 = 0 then 'error'"
            " when n % 1000 = 1 then 'waiting' else 'done' end, n, n, lpad((n % 100)::text, 32, '0')::uuid"
            f" from generate_series(1, {MANY}) n; analyze runs"
        )
        await connection.execute("set plan_cache_mode = force_generic_plan")
        plans = []
        for number, (statement, params, _) in enumerate(LISTS):
            await connection.execute(f"prepare listing{number} as {getattr(load('postgres'), statement)}")
            asked = params.format(before=before, thread=THREAD)
            plan = await connection.fetch(f"explain execute listing{number}({asked})")
            plans.append(" ".join(row[0] for row in plan))
        await connection.close()
        return plans

    for plan, (_, _, index) in zip(asyncio.run(look()), LISTS, strict=True):
        assert f" {index} " in plan
        assert "Sort" not in plan or index == "runs_thread", "only the runs of a thread may be sorted"


@pytest.mark.parametrize(
    ("statement", "parameters", "index"),
    [
        ("list_thread_runs", 7, "runs_thread (thread_id=? AND id<?)"),
        ("list_open_thread_runs", 2, "runs_thread (thread_id=?)"),
        ("list_waiting_thread_runs", 5, "runs_thread_waiting (thread_id=? AND id<?)"),
        ("list_ended_thread_runs", 7, "runs_thread (thread_id=?)"),
    ],
)
def test_sqlite_finds_runs_of_a_thread_by_an_index(
    sqlite_path: Path, statement: str, parameters: int, index: str
) -> None:
    database = sqlite3.connect(sqlite_path)
    asked = f"explain query plan {getattr(load('sqlite'), statement)}"
    plan = " ".join(str(row) for row in database.execute(asked, [None] * parameters))
    database.close()
    assert index in plan


@pytest.mark.parametrize("table", ["threads", "runs"])
def test_sqlite_finds_the_names_that_clients_gave_by_an_index(sqlite_path: Path, table: str) -> None:
    """Each name is looked up. A scan of what an owner has would make every new run slower."""
    database = sqlite3.connect(sqlite_path)
    plan = database.execute(f"explain query plan {getattr(load('sqlite'), f'named_{table}')}", ('["ann"]', '["chat"]'))
    steps = [row[3] for row in plan]
    database.close()
    assert any(f"{table}_external (owner=? AND external_id=?)" in step for step in steps), steps
