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
    plan = " ".join(str(row) for row in database.execute(asked, ("ann", None, None, None, 50, "error")))
    database.close()
    assert "runs_owner_status (owner=? AND status=? AND id<?)" in plan
    assert "TEMP B-TREE" not in plan, "no sort"


@pytest.mark.postgres
@pytest.mark.parametrize("before", ["null", "'01a1e502-962c-73c6-82d2-3a662520fc9a'"])
def test_postgres_finds_runs_of_a_status_by_an_index(postgres_dsn: str, before: str) -> None:
    async def look() -> str:
        connection = await asyncpg.connect(postgres_dsn)
        await connection.execute(
            "insert into runs (id, owner, face, lane_key, pos, agent, status, created_at)"
            " select gen_random_uuid(), 'ann', 'native', 'run:' || n, n, 'a',"
            f" case when n % 5000 = 0 then 'error' else 'done' end, n from generate_series(1, {MANY}) n; analyze runs"
        )
        await connection.execute("set plan_cache_mode = force_generic_plan")
        await connection.execute(f"prepare listing as {load('postgres').list_runs_by_status}")
        plan = await connection.fetch(f"explain execute listing('ann', {before}, null, null, 50, 'error')")
        await connection.close()
        return " ".join(row[0] for row in plan)

    plan = asyncio.run(look())
    assert "runs_owner_status" in plan
    assert "Sort" not in plan


@pytest.mark.parametrize("table", ["threads", "runs"])
def test_sqlite_finds_the_names_that_clients_gave_by_an_index(sqlite_path: Path, table: str) -> None:
    """Each name is looked up. A scan of what an owner has would make every new run slower."""
    database = sqlite3.connect(sqlite_path)
    plan = database.execute(f"explain query plan {getattr(load('sqlite'), f'named_{table}')}", ('["ann"]', '["chat"]'))
    steps = [row[3] for row in plan]
    database.close()
    assert any(f"{table}_external (owner=? AND external_id=?)" in step for step in steps), steps
