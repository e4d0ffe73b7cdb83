"""Publication skips rows that are locked, and the time at which an event was published does not change afterwards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from msgspec.structs import replace

from runyard.domain.runs.publication import CursorAdvance
from runyard.domain.runs.run import Run, Status
from runyard.stores.postgres.store import PostgresStore
from tests.store.conftest import postgres_store
from tests.store.factories import ANN, Writer, a_moment, a_post, running, token, written
from tests.store.raw_sql import OpenDatabase


@asynccontextmanager
async def locked(dsn: str, table: str, column: str, run_id: str) -> AsyncIterator[None]:
    """Another transaction has a row locked, and does not end."""
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            await connection.execute(f"select 1 from {table} where {column} = $1 for update", run_id)
            yield
    finally:
        await connection.close()


@pytest.fixture
async def pg(postgres_dsn: str) -> AsyncIterator[Any]:
    store = postgres_store(postgres_dsn)
    await store.open()
    yield store
    await store.close()


async def published(store: Any, run: Run) -> int:
    return int((await store.heads([run.id]))[run.id].published)


@pytest.mark.postgres
@pytest.mark.req("S4.10")
async def test_one_locked_cursor_does_not_stop_the_publication_of_other_runs(
    pg: PostgresStore, postgres_dsn: str
) -> None:
    runs = [await running(pg) for _ in range(3)]
    marks = [CursorAdvance(run.id, 1) for run in runs]
    async with locked(postgres_dsn, "run_outbox", "run_id", runs[1].id):
        assert list(await pg.publish(marks)) == [runs[1].id]
        assert [await published(pg, run) for run in runs] == [1, 0, 1]
    assert list(await pg.publish(marks)) == []
    assert [await published(pg, run) for run in runs] == [1, 1, 1]


@pytest.mark.postgres
@pytest.mark.req("S4.13")
async def test_a_run_whose_row_is_locked_is_published_later_with_its_end(pg: PostgresStore, postgres_dsn: str) -> None:
    ended, other = await running(pg), await running(pg)
    await written(pg, Writer(ended).finish(Status.DONE))
    end = CursorAdvance(ended.id, 3, state="finished")
    async with locked(postgres_dsn, "runs", "id", ended.id):
        assert list(await pg.publish([end, CursorAdvance(other.id, 1)])) == [ended.id]
        assert (await published(pg, ended), await published(pg, other)) == (0, 1)
    assert list(await pg.publish([end])) == []
    assert (await pg.get_run(ANN, ended.id)).state == "finished"
    assert await published(pg, ended) == 3


@pytest.mark.req("S4.2")
async def test_the_time_of_a_publication_does_not_move(database: OpenDatabase) -> None:
    store = database.store
    run = await running(store, replace(a_post(), face="plans", external_id="p1"))
    writer = Writer(run)
    await written(store, writer.part(token("x"), token("y")))
    times = "select published_at from run_publication order by seq"
    assert await database.values(times) == [None, None, None]
    await store.publish([CursorAdvance(run.id, 2)])
    first = await database.values(times)
    assert first[0] == first[1] is not None
    assert first[2] is None
    await a_moment()
    await store.publish([CursorAdvance(run.id, 2)])
    await store.publish([CursorAdvance(run.id, 3)])
    await a_moment()
    await written(store, writer.finish(Status.DONE))
    await store.publish([CursorAdvance(run.id, 5, state="finished")])
    last = await database.values(times)
    assert last[:2] == first[:2]
    assert last[1] < last[2] < last[3] == last[4]


@pytest.mark.req("S4.1")
async def test_the_run_of_a_plan_has_a_version_and_the_time_of_its_last_change(database: OpenDatabase) -> None:
    store = database.store
    run = await running(store, replace(a_post(), face="plans", external_id="p1"))
    await running(store)  # of another face
    [made] = await database.rows("select * from plan_runs")
    seen = made["id"], made["state"], made["last_seq"], made["v"], made["finished_at"]
    assert seen == ("p1", "started", 1, 1, None)
    await a_moment()
    writer = Writer(run)
    await written(store, writer.part(token("x")))
    [changed] = await database.rows("select * from plan_runs")
    assert changed["updated_at"] > made["updated_at"] >= made["created_at"]
    await written(store, writer.finish(Status.DONE))
    await a_moment()
    await store.publish([CursorAdvance(run.id, 4, state="finished")])
    [over] = await database.rows("select * from plan_runs")
    assert (over["state"], over["last_seq"]) == ("finished", 4)
    assert over["updated_at"] > changed["updated_at"]
    assert over["finished_at"] is not None
