"""The database itself refuses invalid writes: a second guard below the rules of the store."""

import sqlite3

import asyncpg
import pytest

from tests.store.factories import a_post, claims, ended, post
from tests.store.raw_sql import OpenDatabase

REFUSED = (sqlite3.IntegrityError, asyncpg.UniqueViolationError)


@pytest.mark.invariant(3)
async def test_a_log_cannot_have_a_second_terminal_event(database: OpenDatabase) -> None:
    await ended(database.store)
    with pytest.raises(REFUSED):
        await database.rows("update run_events set type = 'run.finished' where seq = 1")


@pytest.mark.invariant(4)
async def test_a_lane_cannot_have_a_second_running_run(database: OpenDatabase) -> None:
    for text in ("first", "second"):
        await post(database.store, a_post(text=text, lane="a lane"))
    assert len(await claims(database.store)) == 1
    with pytest.raises(REFUSED):
        await database.rows("update runs set status = 'running' where status = 'queued'")


@pytest.mark.invariant(4)
async def test_two_queued_runs_cannot_have_one_position_in_a_lane(database: OpenDatabase) -> None:
    for text in ("first", "second"):
        await post(database.store, a_post(text=text, lane="a lane"))
    with pytest.raises(REFUSED):
        await database.rows("update runs set pos = (select max(pos) from runs)")
