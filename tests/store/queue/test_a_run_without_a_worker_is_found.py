"""A run that belongs to a worker without a row has no lease that could expire. The reaper takes it too."""

from collections.abc import Callable

import pytest

from runyard.domain.runs.run import Status
from runyard.store import Reaped, Store
from runyard.stores.sql_store import SqlStore
from runyard.stores.transactions.tx import Tx
from tests.store.factories import ANN, a_worker, claimed, ending, post


async def _delete(tx: Tx, worker_id: str) -> None:
    await tx.rows(tx.q.delete_workers, [worker_id])


@pytest.mark.parametrize("connect", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
async def test_a_run_without_a_worker_goes_back_into_the_queue(connect: Callable[[], Store]) -> None:
    store = connect()
    await store.open()
    try:
        worker_id = await a_worker(store)
        await post(store)
        run = await claimed(store, worker_id)
        assert isinstance(store, SqlStore)
        await store._write("other", _delete, worker_id)
        assert await store.reap(10, 5, ending) == [Reaped(run.id, "requeue")]
        assert (await store.get_run(ANN, run.id)).status is Status.QUEUED
    finally:
        await store.close()
