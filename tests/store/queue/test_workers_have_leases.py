"""A worker process is a row with a lease: extended while it is valid, deleted when the worker retires."""

from runyard.base.ids import new_id
from runyard.store import Reaped, Store
from tests.store.factories import MINUTE, Writer, a_worker, claimed, claims, die, ending, post, written


async def test_workers_are_listed_oldest_first(store: Store) -> None:
    ids = [new_id() for _ in range(3)]
    for worker_id in ids[1], ids[0], ids[2]:
        await store.register(worker_id, f"host {worker_id}", MINUTE)
    workers = await store.list_workers()
    assert [(worker.id, worker.label) for worker in workers] == [(each, f"host {each}") for each in ids]
    assert all(worker.lease_until == worker.started_at + MINUTE for worker in workers)


async def test_a_heartbeat_extends_the_lease_and_keeps_the_rest(store: Store) -> None:
    worker_id = await a_worker(store, MINUTE)
    [before] = await store.list_workers()
    assert (await store.heartbeat(worker_id, 5 * MINUTE)).alive
    [after] = await store.list_workers()
    assert (after.id, after.label, after.started_at) == (before.id, before.label, before.started_at)
    assert after.lease_until >= before.lease_until + 4 * MINUTE


async def test_a_heartbeat_tells_what_the_worker_holds(store: Store) -> None:
    worker_id = await a_worker(store)
    await post(store)
    await post(store)
    held = await claims(store, worker_id)
    assert sorted((await store.heartbeat(worker_id, MINUTE)).holds, key=lambda run: run.id) == sorted(
        held, key=lambda run: run.id
    )
    await written(store, Writer(held[0]).finish())
    assert list((await store.heartbeat(worker_id, MINUTE)).holds) == [held[1]]


async def test_a_lease_that_ran_out_stays_so(store: Store) -> None:
    worker_id = await a_worker(store)
    await die(store, worker_id)
    [dead] = await store.list_workers()
    assert not (await store.heartbeat(worker_id, MINUTE)).alive
    assert await store.list_workers() == [dead]


async def test_a_worker_that_retired_is_forgotten(store: Store) -> None:
    leaving, staying = await a_worker(store), await a_worker(store)
    await post(store)
    run = await claimed(store, leaving)
    await written(store, Writer(run).finish())
    await store.retire(leaving)
    assert [worker.id for worker in await store.list_workers()] == [staying]
    assert not (await store.heartbeat(leaving, MINUTE)).alive
    await post(store)
    assert await claims(store, leaving) == []


async def test_runs_that_a_retired_worker_still_held_are_reaped(store: Store) -> None:
    leaving = await a_worker(store)
    await post(store)
    run = await claimed(store, leaving)
    await store.retire(leaving)
    assert await store.reap(10, 5, ending) == [Reaped(run.id, "requeue")]
    assert await store.list_workers() == []


async def test_retiring_twice_or_unknown_is_no_error(store: Store) -> None:
    worker_id = await a_worker(store)
    await store.retire(worker_id)
    await store.retire(worker_id)
    await store.retire(new_id())
    assert await store.list_workers() == []


async def test_reaping_leaves_the_living_on_record(store: Store) -> None:
    await die(store, await a_worker(store))
    alive = await a_worker(store)
    await store.reap(10, 5, ending)
    assert alive in [worker.id for worker in await store.list_workers()]
    assert (await store.heartbeat(alive, MINUTE)).alive
