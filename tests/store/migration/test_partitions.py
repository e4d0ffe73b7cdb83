"""On Postgres the log is partitioned by weeks. Partitions exist before they are needed, and events go into their
own."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import msgspec
import pytest

from runyard.base.clock import SystemClock
from runyard.base.ids import first_id_at, new_id
from runyard.errors import ClockAhead, StartupError
from runyard.stores.postgres.store import PostgresStore
from tests.store.factories import Writer, a_post, a_worker, an_approval, claims, post, running, token, written

WEEK = 7 * 24 * 3600 * 1000
PARTITIONS = """
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'run_events'::regclass order by 1"""


@pytest.fixture
async def store(pg_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(pg_database, SystemClock())
    await store.open()
    yield store
    await store.close()


async def partitions(dsn: str) -> list[str]:
    connection = await asyncpg.connect(dsn)
    try:
        return [row[0] for row in await connection.fetch(PARTITIONS)]
    finally:
        await connection.close()


async def test_this_week_and_the_next_four_are_there_once_the_database_is_open(
    store: PostgresStore, pg_database: str
) -> None:
    week = SystemClock().now_ms() // WEEK
    names = await partitions(pg_database)
    assert "run_events_default" in names
    assert {f"run_events_w{week + ahead}" for ahead in range(5)} <= set(names)


async def test_repeated_maintenance_creates_nothing(store: PostgresStore, pg_database: str) -> None:
    before = await partitions(pg_database)
    await store.maintain()
    assert await partitions(pg_database) == before


@pytest.mark.req("S0.39")
async def test_events_land_in_the_part_of_their_runs_week_and_not_in_the_default(
    store: PostgresStore, pg_database: str
) -> None:
    run = await running(store)
    await written(store, Writer(run).part(token("a"), token("b")))
    await post(store)
    connection = await asyncpg.connect(pg_database)
    rows = await connection.fetch("select tableoid::regclass::text as part, count(*) as n from run_events group by 1")
    await connection.close()
    week = int(run.id.replace("-", "")[:12], 16) // WEEK
    assert {row["part"]: row["n"] for row in rows} == {f"run_events_w{week}": 4}


async def test_a_run_of_a_week_that_has_no_part_is_kept_all_the_same(store: PostgresStore, pg_database: str) -> None:
    connection = await asyncpg.connect(pg_database)
    old = first_id_at(SystemClock().now_ms() - 100 * WEEK)
    await connection.execute(
        "insert into run_events (run_id, seq, id, ts, type, source, fence, data)"
        " values ($1, 1, $2, 1, 'trace', 'api', 0, '{}')",
        old,
        new_id(),
    )
    part = await connection.fetchval("select tableoid::regclass::text from run_events where run_id = $1", old)
    await connection.close()
    assert part == "run_events_default"
    assert [event.seq for event in await store.read(old, 0, 10)] == [1]


async def test_a_part_goes_when_nothing_is_left_in_it_and_only_rows_go_while_something_is(
    store: PostgresStore, pg_database: str
) -> None:
    """Two parts of the past: in one a run stays, because a person is waited for."""
    week = SystemClock().now_ms() // WEEK
    connection = await asyncpg.connect(pg_database)
    for n in (week - 10, week - 9):
        await connection.execute(
            f"create table run_events_w{n} partition of run_events for values"
            f" from ('{_bound(n)}') to ('{_bound(n + 1)}')"
        )
    kept, gone, alone = [first_id_at((week - 10) * WEEK + ms) for ms in (5, 6)] + [first_id_at((week - 9) * WEEK + 5)]
    for run_id in (kept, gone, alone):
        await post(store, msgspec.structs.replace(a_post(lane=f"run:{run_id}"), run_id=run_id))
    worker_id = await a_worker(store)
    for run in await claims(store, worker_id):
        await written(store, Writer(run).park(an_approval(run)) if run.id == kept else Writer(run).finish())
    await connection.execute("update runs set finished_at = 1 where finished_at is not null")
    horizon = (week - 7) * WEEK
    assert (await store.sweep(horizon, None, 100)).dropped == 2
    assert await store.drop_logs(horizon, 0) == 1
    names = await partitions(pg_database)
    assert f"run_events_w{week - 10}" in names
    assert f"run_events_w{week - 9}" not in names
    logs = await connection.fetch("select distinct run_id::text from run_events")
    assert [row[0] for row in logs] == [kept]
    assert await connection.fetchval("select count(*) from dropped_runs where has_log") == 0
    assert await store.drop_logs(horizon, 0) == 0
    await connection.close()


def _bound(week: int) -> str:
    return str(UUID(int=(week * WEEK) << 80))


async def test_rows_of_a_week_to_come_are_moved_when_its_part_is_made(store: PostgresStore, pg_database: str) -> None:
    """A server whose clock was ahead wrote them. Every server starts all the same when that week has come."""
    connection = await asyncpg.connect(pg_database)
    week = SystemClock().now_ms() // WEEK
    ahead = first_id_at((week + 6) * WEEK + 5)
    await connection.execute(
        "insert into run_events (run_id, seq, id, ts, type, source, fence, data)"
        " values ($1, 1, $2, 1, 'trace', 'api', 0, '{}')",
        ahead,
        new_id(),
    )
    assert await connection.fetchval("select add_event_partitions(8)") == 4
    part = await connection.fetchval("select tableoid::regclass::text from run_events where run_id = $1", ahead)
    await connection.close()
    assert part == f"run_events_w{week + 6}"
    assert [event.seq for event in await store.read(ahead, 0, 10)] == [1]


async def test_a_run_from_a_clock_that_is_far_ahead_is_refused(store: PostgresStore, pg_database: str) -> None:
    ahead = first_id_at(SystemClock().now_ms() + 60 * 24 * 3600 * 1000)
    with pytest.raises(ClockAhead, match="Set the server's clock"):
        await post(store, msgspec.structs.replace(a_post(lane=f"run:{ahead}"), run_id=ahead))
    connection = await asyncpg.connect(pg_database)
    assert await connection.fetchval("select count(*) from run_events_default") == 0
    await connection.close()


async def test_a_server_whose_clock_is_far_ahead_does_not_start(pg_database: str) -> None:
    class Ahead(SystemClock):
        def now_ms(self) -> int:
            return super().now_ms() + 60 * 24 * 3600 * 1000

    store = PostgresStore(pg_database, Ahead())
    with pytest.raises(StartupError, match="Set the server's clock"):
        await store.open()
