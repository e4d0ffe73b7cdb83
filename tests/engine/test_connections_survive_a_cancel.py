"""A caller that is cancelled, at whatever moment, leaves a connection that the next one can use."""

import asyncio
from typing import Any

import pytest
from asyncpg.transaction import Transaction

from runyard.clock import SystemClock
from runyard.ids import new_id
from runyard.stores.postgres import PostgresStore
from tests.store.making import MINUTE


async def test_a_heartbeat_that_was_cut_off_does_not_spoil_those_after_it(
    pg_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that is renewed too slowly is given up by cancelling; the worker must still be able to come back."""
    store = PostgresStore(pg_database, SystemClock())
    await store.open()
    worker_id = new_id()
    await store.register(worker_id, "test", MINUTE)

    async def cut_off(transaction: Any, *error: object) -> None:
        """What asyncpg leaves behind when a COMMIT is cancelled before the server took it."""
        transaction._connection._top_xact = None
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "__aexit__", cut_off)
        with pytest.raises(asyncio.CancelledError):
            await store.heartbeat(worker_id, MINUTE)
    try:
        assert (await store.heartbeat(worker_id, MINUTE)).alive
    finally:
        await store.close()
