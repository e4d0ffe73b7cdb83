"""Retention deletes threads and runs that ended before the horizon, as a whole; waiting, running and forked ones
stay."""

import pytest
from msgspec.structs import replace

from runyard.base.ids import first_id_at, made_at, new_id
from runyard.domain.runs.run import Run
from runyard.errors import NotFound
from runyard.store import Store, Swept
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    Writer,
    a_post,
    a_thread,
    a_worker,
    an_approval,
    claims,
    clock,
    post,
    written,
)

LATER = 10_000


async def ended(store: Store, *posts: object) -> list[Run]:
    """Runs that were claimed and have ended."""
    worker_id = await a_worker(store)
    runs = list(await claims(store, worker_id))
    for run in runs:
        await written(store, Writer(run).finish(answer="yes" if run.thread_id else None))
    return runs


async def swept(store: Store, horizon: int | None = None) -> Swept:
    return await store.sweep(clock.now_ms() + LATER if horizon is None else horizon, None, 100)


async def test_a_run_that_ended_before_the_horizon_is_gone_and_a_tombstone_stands_there(store: Store) -> None:
    run_id = await post(store, replace(a_post(), external_id="mine"))
    await ended(store)
    assert await swept(store) == Swept(1, 1, None)
    with pytest.raises(NotFound):
        await store.get_run(ANN, run_id)
    for name in (run_id, "mine"):
        stone = await store.get_tombstone(ANN, name)
        assert (stone.id, stone.status, stone.stop_reason, stone.agent) == (run_id, "done", "end_turn", "default")
        assert stone.dropped_at >= stone.finished_at >= stone.created_at
        with pytest.raises(NotFound):
            await store.get_tombstone(BOB, name)
    assert await store.heads([run_id]) == {}
    assert await store.unpublished(0, MANY) == []
    await store.drop_logs(clock.now_ms() + LATER, clock.now_ms() + LATER)
    assert await swept(store) == Swept(0, 0, None)
    assert (await store.get_run(ANN, await post(store, replace(a_post(), external_id="mine")))).external_id == "mine"


async def test_runs_that_are_young_waiting_or_running_stay(store: Store) -> None:
    young = await post(store)
    await ended(store)
    assert (await swept(store, clock.now_ms() - LATER)).dropped == 0
    worker_id = await a_worker(store)
    for _ in range(2):
        await post(store)
    [asking, working] = await claims(store, worker_id)
    await written(store, Writer(asking).park(an_approval(asking)))
    queued = await post(store)
    assert (await swept(store)).dropped == 1
    with pytest.raises(NotFound):
        await store.get_run(ANN, young)
    for run_id in (asking.id, working.id, queued):
        assert (await store.get_run(ANN, run_id)).id == run_id
    assert len(await store.list_waits(ANN, None, MANY)) == 1


async def test_a_thread_goes_as_a_whole_and_only_when_its_last_run_is_old(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    first = await post(store, a_post(thread))
    await ended(store)
    second = await post(store, a_post(thread))
    assert (await swept(store)).dropped == 0, "one of its runs has not ended"
    assert (await store.get_run(ANN, first)).id == first
    await ended(store)
    assert (await swept(store)).dropped == 2
    with pytest.raises(NotFound):
        await store.get_thread(ANN, thread.id)
    assert await store.list_messages(thread.id) == []
    assert (await store.get_tombstone(ANN, second)).status == "done"


async def test_a_thread_that_another_goes_back_to_stays(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run_id = await post(store, a_post(thread))
    await ended(store)
    fork = await store.fork_thread(a_thread(), run_id)
    assert (await swept(store)).dropped == 0
    assert (await store.get_run(ANN, run_id)).id == run_id
    await store.delete_thread(ANN, fork.id)
    assert (await swept(store)).dropped == 1


async def test_a_retry_keeps_its_queue_while_what_it_repeats_goes(store: Store) -> None:
    old = await post(store)
    await ended(store)
    lane = f"run:{old}"
    again = (await store.retry(ANN, replace(a_post(), lane_key=lane), old)).run_id
    assert (await swept(store)).dropped == 1
    [run] = await ended(store)
    assert run.id == again
    assert (await swept(store)).dropped == 1


async def test_batches_go_on_where_the_last_one_stopped(store: Store) -> None:
    for _ in range(5):
        await post(store)
    await ended(store)
    horizon, cursor, dropped = clock.now_ms() + LATER, None, []
    while True:
        batch = await store.sweep(horizon, cursor, 2)
        dropped.append(batch.dropped)
        if batch.cursor is None:
            break
        cursor = batch.cursor
    assert sum(dropped) == 5
    assert max(dropped) == 2


def test_ids_tell_when_they_were_made() -> None:
    before = clock.now_ms()
    made = new_id()
    assert before <= made_at(made) <= clock.now_ms()
    assert first_id_at(made_at(made)) <= made < first_id_at(made_at(made) + 1)


async def test_removals_are_listed_in_order_so_that_their_files_can_be_removed(store: Store) -> None:
    kept, deleted = await store.create_thread(a_thread()), await store.create_thread(a_thread())
    alone = await post(store, a_post())
    await post(store, a_post(kept))
    await ended(store)
    before = clock.now_ms() - LATER
    await store.delete_thread(ANN, deleted.id)
    assert [(each.id, each.owner, each.chat) for each in await store.removals(before, None, MANY)] == [
        (deleted.id, ANN, deleted.id)
    ]
    await swept(store)
    told = await store.removals(before, None, MANY)
    assert {(each.id, each.chat) for each in told} == {(deleted.id,) * 2, (kept.id,) * 2, (alone, None)}
    assert list(told) == sorted(told, key=lambda each: (each.removed_at, each.id))
    assert await store.removals(told[0].removed_at, told[0].id, MANY) == list(told)[1:]
    assert len(await store.removals(before, None, 2)) == 2
    await store.forget_removals(clock.now_ms() + LATER)
    assert await store.removals(before, None, MANY) == []
