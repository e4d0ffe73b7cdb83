"""Reply order: the runs of one message follow one another. A held run blocks no other run and is released once."""

from collections.abc import Sequence

import pytest
from anyio import create_task_group

from runyard.domain.runs.append import Release
from runyard.domain.runs.run import Run, Status
from runyard.store import Store
from tests.store.channel_factories import ANGELA, KEVIN, OSCAR, channel, declare_agents, dm, feed, runs_of, said
from tests.store.factories import (
    ANN,
    MANY,
    Writer,
    a_moment,
    a_worker,
    an_approval,
    claims,
    decide,
    die,
    ending,
    lose,
    written,
)

pytestmark = pytest.mark.invariant(12)


@pytest.fixture
async def channel_store(store: Store) -> Store:
    await declare_agents(store)
    return store


async def let_go(channel_store: Store) -> list[Run]:
    """Release due runs, and claim ready ones."""
    await channel_store.release_held_runs(MANY)
    return await claims(channel_store)


async def agents(runs: Sequence[Run]) -> list[str]:
    return sorted(run.agent for run in runs)


@pytest.mark.req("S3.40")
async def test_the_next_run_starts_when_the_previous_one_has_ended(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN, OSCAR, ANGELA)
    await said(channel_store, here)
    for name in ("kevin", "oscar", "angela"):
        [run] = await let_go(channel_store)
        assert run.agent == name
        assert await let_go(channel_store) == []
        await written(channel_store, Writer(run).finish())
    assert await let_go(channel_store) == []


@pytest.mark.req("S3.40")
async def test_a_run_that_waits_for_a_person_releases_the_next(channel_store: Store) -> None:
    await said(channel_store, await channel(channel_store, KEVIN, OSCAR))
    [kevin] = await let_go(channel_store)
    approval = an_approval(kevin)
    await written(channel_store, Writer(kevin).park(approval))
    [oscar] = await let_go(channel_store)
    assert oscar.agent == "oscar"
    await decide(channel_store, approval)
    [again] = await let_go(channel_store)
    assert again.id == kevin.id
    await written(channel_store, Writer(again).finish())
    assert await let_go(channel_store) == [], "no run is released a second time"


@pytest.mark.req("S3.40")
async def test_a_pause_lies_between_runs_and_blocks_no_other_run(channel_store: Store) -> None:
    await said(channel_store, await channel(channel_store, KEVIN, OSCAR), pause_ms=3_600_000)
    [kevin] = await let_go(channel_store)
    assert (await channel_store.release_held_runs(MANY)) == (0, None)
    await written(channel_store, Writer(kevin).finish())
    released, due_in = await channel_store.release_held_runs(MANY)
    assert released == 0
    assert due_in is not None
    assert 3_500_000 < due_in <= 3_600_000
    direct = await said(channel_store, await dm(channel_store, KEVIN, OSCAR), sender=KEVIN)
    assert [run.id for run in await let_go(channel_store)] == list(runs_of(direct)), (
        "who is early does not block its lane"
    )


@pytest.mark.invariant(4, 8)
@pytest.mark.req("S3.10", "S3.40")
async def test_a_held_run_does_not_block_its_lane(channel_store: Store) -> None:
    first = await said(channel_store, await channel(channel_store, KEVIN, OSCAR))
    second = await said(channel_store, await channel(channel_store, OSCAR))
    runs = {run.agent: run for run in await let_go(channel_store)}
    assert runs["oscar"].id == runs_of(second)[0]
    await written(channel_store, Writer(runs["kevin"]).finish())
    assert await let_go(channel_store) == [], "Oscar is at work on the other one"
    await written(channel_store, Writer(runs["oscar"]).finish())
    assert [run.id for run in await let_go(channel_store)] == [runs_of(first)[1]]


@pytest.mark.invariant(4)
async def test_a_released_run_keeps_its_position(channel_store: Store) -> None:
    first = await said(channel_store, await channel(channel_store, KEVIN, OSCAR))
    other = await channel(channel_store, OSCAR)
    later = [runs_of(await said(channel_store, other))[0] for _ in range(2)]
    runs = {run.agent: run for run in await let_go(channel_store)}
    assert runs["oscar"].id == later[0]
    await written(channel_store, Writer(runs["kevin"]).finish())
    await channel_store.release_held_runs(MANY)
    await written(channel_store, Writer(runs["oscar"]).finish())
    [oscar] = await claims(channel_store)
    assert oscar.id == runs_of(first)[1]
    await written(channel_store, Writer(oscar).finish())
    assert [run.id for run in await claims(channel_store)] == [later[1]]


async def test_a_crash_and_a_drain_keep_the_turn(channel_store: Store) -> None:
    await said(channel_store, await channel(channel_store, KEVIN, OSCAR))
    [kevin] = await let_go(channel_store)
    await lose(channel_store, kevin)
    [kevin] = await let_go(channel_store)
    await written(channel_store, Writer(kevin).part(move=Release()))
    [kevin] = await let_go(channel_store)
    assert kevin.agent == "kevin"


@pytest.mark.req("S3.21", "S3.22")
async def test_a_run_that_is_given_up_releases_the_next(channel_store: Store) -> None:
    await said(channel_store, await channel(channel_store, KEVIN, OSCAR))
    [kevin] = await let_go(channel_store)
    await die(channel_store, kevin.worker_id)
    await channel_store.reap(MANY, 1, ending)
    [oscar] = await let_go(channel_store)
    assert oscar.agent == "oscar"
    told = [("message_created", ANN), ("agent_typing", "kevin"), ("agent_done", "kevin"), ("agent_typing", "oscar")]
    assert await feed(channel_store) == told


@pytest.mark.invariant(13)
@pytest.mark.req("S3.22")
@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_the_feed_shows_when_an_agent_starts_and_ends(channel_store: Store, status: Status) -> None:
    await said(channel_store, await dm(channel_store, KEVIN, OSCAR), sender=KEVIN)
    [run] = await claims(channel_store)
    await written(channel_store, Writer(run).part(move=Release()))
    [run] = await claims(channel_store)  # a second claim is not told
    if status is Status.CANCELED:
        await channel_store.cancel(ANN, run.id, MANY, ending)
    await written(channel_store, Writer(run).finish(status))
    assert await feed(channel_store) == [
        ("message_created", "kevin"),
        ("agent_typing", "oscar"),
        ("agent_done", "oscar"),
    ]


async def test_a_held_run_that_is_canceled_releases_nothing_early(channel_store: Store) -> None:
    started = runs_of(await said(channel_store, await channel(channel_store, KEVIN, OSCAR, ANGELA)))
    [kevin] = await let_go(channel_store)
    assert (await channel_store.cancel(ANN, started[1], 0, ending)).status is Status.CANCELED
    assert await let_go(channel_store) == [], "Kevin has not ended"
    await written(channel_store, Writer(kevin).finish())
    assert [run.id for run in await let_go(channel_store)] == [started[2]]
    assert ("agent_done", "oscar") not in await feed(channel_store), "no entry said that it had begun"


async def test_a_run_canceled_in_its_pause_releases_the_next(channel_store: Store) -> None:
    started = runs_of(await said(channel_store, await channel(channel_store, KEVIN, OSCAR, ANGELA)))
    [kevin] = await let_go(channel_store)
    await written(channel_store, Writer(kevin).finish())
    await channel_store.cancel(ANN, started[1], 0, ending)
    assert [run.id for run in await let_go(channel_store)] == [started[2]]


async def test_a_lost_release_is_recovered(channel_store: Store) -> None:
    """A run that is held behind a deleted run is released by the safety net."""
    here = await channel(channel_store, KEVIN, OSCAR)
    started = runs_of(await said(channel_store, here))
    await channel_store.recover_held_runs()
    [kevin] = await let_go(channel_store)
    assert kevin.agent == "kevin"
    await written(channel_store, Writer(kevin).finish())
    await channel_store.recover_held_runs()
    assert [run.id for run in await let_go(channel_store)] == [started[1]]
    await channel_store.recover_held_runs()
    assert await channel_store.release_held_runs(MANY) == (0, None)


@pytest.mark.req("S3.10", "S3.11")
async def test_concurrent_releases_release_each_run_once(channel_store: Store) -> None:
    started = [runs_of(await said(channel_store, await channel(channel_store, KEVIN, OSCAR))) for _ in range(4)]
    for _ in started:
        [kevin] = [run for run in await claims(channel_store) if run.agent == "kevin"]
        await written(channel_store, Writer(kevin).finish())
    released: list[int] = []

    async def call() -> None:
        released.append((await channel_store.release_held_runs(MANY))[0])

    async with create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(call)
    assert sum(released) == len(started)
    for pair in started:
        [oscar] = await claims(channel_store)
        assert oscar.id == pair[1]
        await written(channel_store, Writer(oscar).finish())


@pytest.mark.req("S3.9", "S3.41")
async def test_three_quick_messages_to_one_agent_run_in_order_one_at_a_time(channel_store: Store) -> None:
    here = await dm(channel_store, KEVIN, OSCAR)
    started = [runs_of(await said(channel_store, here, sender=KEVIN))[0] for _ in range(3)]
    workers = [await a_worker(channel_store) for _ in range(8)]
    for run_id in started:
        taken = [run for worker in workers for run in await claims(channel_store, worker)]
        assert [run.id for run in taken] == [run_id]
        await a_moment()
        await written(channel_store, Writer(taken[0]).finish())
