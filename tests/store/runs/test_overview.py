"""The overview counts over all owners."""

from runyard.store import Store
from tests.store.factories import (
    ANN,
    BOB,
    MINUTE,
    Writer,
    a_post,
    a_thread,
    a_worker,
    an_approval,
    claims,
    post,
    written,
)


async def test_an_empty_store_has_nothing_going_on(store: Store) -> None:
    found = await store.overview(100)
    assert (found.queued, found.running, found.approvals, found.behind, list(found.workers)) == (0, 0, 0, 0, [])
    assert found.ready_since is None
    assert found.behind_since is None
    assert found.version


async def test_queued_and_running_runs_and_approvals_are_counted_over_all_owners(store: Store) -> None:
    worker_id = await a_worker(store, MINUTE)
    for owner in (ANN, BOB):
        await post(store, a_post(owner=owner))
    [asking, running] = await claims(store, worker_id)
    await written(store, Writer(asking).park(an_approval(asking)))
    thread = await store.create_thread(a_thread())
    first, second = await post(store, a_post(thread)), await post(store, a_post(thread))
    assert first != second
    found = await store.overview(100)
    assert (found.queued, found.running, found.approvals) == (2, 1, 1)
    assert found.ready_since is not None
    assert found.ready_since <= found.now
    assert found.behind == 4
    assert found.behind_since is not None
    assert [(worker.id, worker.runs) for worker in found.workers] == [(worker_id, 1)]
    assert running.id


async def test_counts_stop_where_they_are_told_to(store: Store) -> None:
    for _ in range(4):
        await post(store)
    assert (await store.overview(3)).queued == 3
