"""A caller that is cancelled at any moment leaves a usable connection and no lost claim."""

import asyncio
from typing import Any

import asyncpg
import pytest
from asyncpg.transaction import Transaction

from runyard.base.clock import SystemClock
from runyard.base.ids import new_id
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.transactions.queue import claims as scripts
from runyard.stores.transactions.tx import Tx
from tests.store.factories import MINUTE, a_worker, ending, post
from tests.support.eventually import eventually


async def test_a_heartbeat_that_was_cut_off_does_not_spoil_those_after_it(
    pg_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that is renewed too slowly is given up by cancelling; the worker must still be able to come back."""
    store = PostgresStore(pg_database, SystemClock())
    await store.open()
    worker_id = new_id()
    await store.register(worker_id, "test", MINUTE)

    async def cut_off(transaction: Any) -> None:
        """Leave the state of asyncpg after a COMMIT that was cancelled before the server took it."""
        transaction._connection._top_xact = None
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "commit", cut_off)
        with pytest.raises(asyncio.CancelledError):
            await store.heartbeat(worker_id, MINUTE)
    try:
        assert (await store.heartbeat(worker_id, MINUTE)).alive
    finally:
        await store.close()


async def test_a_cancel_wins_over_a_connection_that_breaks(pg_database: str) -> None:
    """A task that is cancelled inside a transaction ends as cancelled, whatever becomes of its connection."""
    store = PostgresStore(pg_database, SystemClock())
    await store.open()
    inside = asyncio.Event()

    async def script(tx: Tx) -> None:
        [session] = await tx.rows("select pg_backend_pid() as pid")
        await asyncio.to_thread(_terminate, pg_database, session["pid"])
        inside.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(store._write("other", script))
    try:
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    finally:
        await store.close()


def _terminate(dsn: str, pid: int) -> None:
    async def end() -> None:
        connection = await asyncpg.connect(dsn)
        await connection.fetchval("select pg_terminate_backend($1, 10000)", pid)
        await connection.close()

    asyncio.run(end())


async def test_a_worker_is_not_forgotten_while_a_claim_of_it_may_still_commit(pg_database: str) -> None:
    """Its claim is on the way to COMMIT when the worker retires: the run is still found by the reaper."""
    store = PostgresStore(pg_database, SystemClock())
    await store.open()
    worker_id = await a_worker(store)
    run_id = await post(store)
    claimed, commit = asyncio.Event(), asyncio.Event()

    async def slow_claim(tx: Tx) -> None:
        await scripts.claim(tx, worker_id, 1, False, {})
        claimed.set()
        await commit.wait()

    try:
        claiming = asyncio.create_task(store._write("claims", slow_claim))
        await claimed.wait()
        retiring = asyncio.create_task(store.retire(worker_id))
        await _is_blocked(pg_database)
        commit.set()
        await asyncio.gather(claiming, retiring)
        assert [reaped.run_id for reaped in await store.reap(10, 3, ending)] == [run_id]
    finally:
        await store.close()


async def _is_blocked(dsn: str) -> None:
    """Return when a session of this database waits for a lock."""
    connection = await asyncpg.connect(dsn)
    query = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

    async def blocked() -> bool:
        return bool(await connection.fetchval(query))

    await eventually("a session waits for a lock", blocked)
    await connection.close()
