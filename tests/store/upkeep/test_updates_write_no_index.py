"""On Postgres the updates that every run makes stay heap-only: a new version in the same page, and no index entry.

An index on a column that these updates change, or a page without room, would cost every run several index entries."""

from typing import cast

import pytest

from runyard.domain.runs.publication import CursorAdvance
from runyard.store import Accepted, Room
from runyard.stores.postgres.store import PostgresStore
from tests.store.conftest import postgres_store
from tests.store.factories import Writer, a_post, a_thread, a_worker, token, written
from tests.store.raw_sql import OpenDatabase
from tests.support.eventually import eventually

RUNS = 10


@pytest.mark.postgres
async def test_a_run_changes_the_indexes_of_lanes_never_and_those_of_runs_once(pg_database: str) -> None:
    store = cast(PostgresStore, postgres_store(pg_database))
    await store.open()
    thread = await store.create_thread(a_thread())
    room = Room(await a_worker(store), 1)
    for _ in range(RUNS):
        [accepted] = await store.accept([a_post(thread)], room)
        claim = cast(Accepted, accepted).claim
        assert claim is not None
        writer = Writer(claim.run)
        await written(store, writer.part(token("a")))
        end = await written(store, writer.finish())
        await store.publish([CursorAdvance(claim.run.id, end.last_seq, state="finished")])
    await store.close()  # its sessions report what they counted as they end
    database = OpenDatabase(store, pg_database)

    async def updates(table: str) -> tuple[int, int]:
        [row] = await database.rows(
            "select n_tup_upd as all, n_tup_upd - n_tup_hot_upd as cold"
            f" from pg_stat_user_tables where relname = '{table}'"
        )
        return row["all"], row["cold"]

    async def counted() -> bool:
        return await updates("runs") >= (3 * RUNS, 0) and await updates("lanes") >= (2 * RUNS - 1, 0)

    await eventually("the sessions have reported", counted)
    assert await updates("lanes") == (2 * RUNS - 1, 0)  # start and end; the first start inserts the lane
    assert await updates("runs") == (3 * RUNS, RUNS)  # a token, the end, its publication: the end moves between indexes
