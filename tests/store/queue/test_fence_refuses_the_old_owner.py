"""A worker that lost a run cannot write to it, also while another worker runs it."""

from collections.abc import Callable

import pytest

from runyard.domain.runs.append import Part, Release
from runyard.domain.runs.run import Run, Status
from runyard.errors import Fenced
from runyard.store import Store
from tests.store.factories import (
    ANN,
    Writer,
    a_post,
    a_thread,
    an_approval,
    append,
    claimed,
    claims,
    die,
    ending,
    log,
    lose,
    post,
    running,
    token,
    waiting,
    written,
)

pytestmark = pytest.mark.invariant(2)

WRITES: dict[str, Callable[[Writer], Part]] = {
    "append": lambda writer: writer.part(token("late")),
    "finish": lambda writer: writer.finish(answer="late"),
    "park": lambda writer: writer.park(an_approval(writer.run)),
    "release": lambda writer: writer.part(move=Release()),
}


@pytest.mark.parametrize("write", WRITES)
async def test_a_zombie_is_refused_while_its_successor_runs(store: Store, write: str) -> None:
    thread = await store.create_thread(a_thread())
    zombie = Writer(await running(store, a_post(thread)))
    await written(store, zombie.part(token("a")))
    await lose(store, zombie.run)
    successor = Writer(await claimed(store))
    await written(store, successor.part(token("b")))
    before = await store.get_run(ANN, successor.run.id)

    assert isinstance(await append(store, WRITES[write](zombie)), Fenced)

    assert await store.get_run(ANN, successor.run.id) == before
    assert await log(store, before.id) == ["run.queued", "model.token", "model.token"]
    assert await store.list_waits(ANN, None, 10) == []
    assert len(await store.list_messages(thread.id)) == 1
    await written(store, successor.finish())


@pytest.mark.parametrize("write", WRITES)
async def test_a_worker_is_refused_from_the_moment_its_run_is_reaped(store: Store, write: str) -> None:
    thread = await store.create_thread(a_thread())
    zombie = Writer(await running(store, a_post(thread)))
    await lose(store, zombie.run)
    assert isinstance(await append(store, WRITES[write](zombie)), Fenced)
    assert (await store.get_run(ANN, zombie.run.id)).status is Status.QUEUED


async def test_a_successors_batch_numbers_do_not_hide_a_zombies_write(store: Store) -> None:
    """The zombie's part must not pass for a repeat because its number was used by the successor."""
    zombie = Writer(await running(store))
    await lose(store, zombie.run)
    await written(store, Writer(await claimed(store)).part(token("b")))
    assert isinstance(await append(store, zombie.part(token("a"))), Fenced)


async def test_a_fence_of_the_future_is_refused(store: Store) -> None:
    run = await running(store)
    assert isinstance(await append(store, Writer(run).part(token("a"), fence=run.fence + 1)), Fenced)


async def test_a_skipped_batch_is_refused(store: Store) -> None:
    run = await running(store)
    assert isinstance(await append(store, Writer(run).part(token("a"), batch=2)), Fenced)
    await written(store, Writer(run).part(token("a"), batch=1))


async def test_a_run_that_was_never_claimed_takes_no_writes(store: Store) -> None:
    run = await store.get_run(ANN, await post(store))
    assert isinstance(await append(store, Writer(run).part(token("a"))), Fenced)
    assert await log(store, run.id) == ["run.queued"]


async def test_every_change_of_owner_raises_the_fence(store: Store) -> None:
    fences = []

    async def note() -> Run:
        [run] = await store.list_runs(ANN, {}, None, 10)
        fences.append(run.fence)
        return run

    await post(store)
    await note()
    await lose(store, await claimed(store))
    await note()
    run = await claimed(store)
    await note()
    await written(store, Writer(run).part(move=Release()))
    await note()
    run = await claimed(store)
    await note()
    await written(store, Writer(run).park(an_approval(run)))
    await note()
    assert fences == sorted(set(fences))


async def test_a_worker_that_parked_its_run_cannot_write_to_it(store: Store) -> None:
    run, _ = await waiting(store)
    for fence in (run.fence - 1, run.fence):
        part = Writer(run).part(token("late"), fence=fence, batch=run.last_batch + 1)
        assert isinstance(await append(store, part), Fenced)


async def test_a_dead_worker_may_write_until_another_takes_the_run(store: Store) -> None:
    """The fence decides, not the lease: no write is lost if a lease expires and there is no other worker."""
    writer = Writer(await running(store))
    await die(store, writer.run.worker_id)
    await written(store, writer.part(token("a")))
    await store.reap(10, 9, ending)
    assert isinstance(await append(store, writer.part(token("b"))), Fenced)


async def test_a_fence_of_one_run_says_nothing_about_another(store: Store) -> None:
    await lose(store, await running(store))
    await post(store)
    runs = await claims(store)
    assert sorted(run.fence for run in runs) == [1, 3]
    for run in runs:
        await written(store, Writer(run).part(token("a")))
