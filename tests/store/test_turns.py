"""Group order: the runs of one message follow one another; who is held blocks nobody, and is released once."""

from collections.abc import Sequence

import pytest
from anyio import create_task_group

from runyard.domain.append import Release
from runyard.domain.run import Run, Status
from runyard.store import Store
from tests.store.making import (
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
from tests.store.office_making import ANGELA, KEVIN, OSCAR, channel, dm, feed, hire, runs_of, said


@pytest.fixture
async def office(store: Store) -> Store:
    await hire(store)
    return store


async def let_go(office: Store) -> list[Run]:
    """Release who is due, and claim what can be claimed."""
    await office.release_held_runs(MANY)
    return await claims(office)


async def agents(runs: Sequence[Run]) -> list[str]:
    return sorted(run.agent for run in runs)


@pytest.mark.req("S3.40")
async def test_the_next_has_its_turn_when_the_one_before_has_ended(office: Store) -> None:
    here = await channel(office, KEVIN, OSCAR, ANGELA)
    await said(office, here)
    for name in ("kevin", "oscar", "angela"):
        [run] = await let_go(office)
        assert run.agent == name
        assert await let_go(office) == []
        await written(office, Writer(run).finish())
    assert await let_go(office) == []


@pytest.mark.req("S3.40")
async def test_who_waits_for_a_person_lets_the_next_go(office: Store) -> None:
    await said(office, await channel(office, KEVIN, OSCAR))
    [kevin] = await let_go(office)
    approval = an_approval(kevin)
    await written(office, Writer(kevin).park(approval))
    [oscar] = await let_go(office)
    assert oscar.agent == "oscar"
    await decide(office, approval)
    [again] = await let_go(office)
    assert again.id == kevin.id
    await written(office, Writer(again).finish())
    assert await let_go(office) == [], "nobody is let go a second time"


@pytest.mark.req("S3.40")
async def test_a_pause_lies_between_them_and_nobody_is_held_up(office: Store) -> None:
    await said(office, await channel(office, KEVIN, OSCAR), pause_ms=3_600_000)
    [kevin] = await let_go(office)
    assert (await office.release_held_runs(MANY)) == (0, None)
    await written(office, Writer(kevin).finish())
    released, due_in = await office.release_held_runs(MANY)
    assert released == 0
    assert due_in is not None
    assert 3_500_000 < due_in <= 3_600_000
    direct = await said(office, await dm(office, KEVIN, OSCAR), sender=KEVIN)
    assert [run.id for run in await let_go(office)] == list(runs_of(direct)), "who is early does not block its lane"


@pytest.mark.req("S3.10", "S3.40")
async def test_a_held_run_does_not_block_its_lane(office: Store) -> None:
    first = await said(office, await channel(office, KEVIN, OSCAR))
    second = await said(office, await channel(office, OSCAR))
    runs = {run.agent: run for run in await let_go(office)}
    assert runs["oscar"].id == runs_of(second)[0]
    await written(office, Writer(runs["kevin"]).finish())
    assert await let_go(office) == [], "Oscar is at work on the other one"
    await written(office, Writer(runs["oscar"]).finish())
    assert [run.id for run in await let_go(office)] == [runs_of(first)[1]]


async def test_who_is_released_comes_in_its_old_place(office: Store) -> None:
    first = await said(office, await channel(office, KEVIN, OSCAR))
    other = await channel(office, OSCAR)
    later = [runs_of(await said(office, other))[0] for _ in range(2)]
    runs = {run.agent: run for run in await let_go(office)}
    assert runs["oscar"].id == later[0]
    await written(office, Writer(runs["kevin"]).finish())
    await office.release_held_runs(MANY)
    await written(office, Writer(runs["oscar"]).finish())
    [oscar] = await claims(office)
    assert oscar.id == runs_of(first)[1]
    await written(office, Writer(oscar).finish())
    assert [run.id for run in await claims(office)] == [later[1]]


async def test_a_crash_and_a_drain_keep_the_turn(office: Store) -> None:
    await said(office, await channel(office, KEVIN, OSCAR))
    [kevin] = await let_go(office)
    await lose(office, kevin)
    [kevin] = await let_go(office)
    await written(office, Writer(kevin).part(move=Release()))
    [kevin] = await let_go(office)
    assert kevin.agent == "kevin"


@pytest.mark.req("S3.21", "S3.22")
async def test_a_run_that_is_given_up_passes_its_turn_on(office: Store) -> None:
    await said(office, await channel(office, KEVIN, OSCAR))
    [kevin] = await let_go(office)
    await die(office, kevin.worker_id)
    await office.reap(MANY, 1, ending)
    [oscar] = await let_go(office)
    assert oscar.agent == "oscar"
    told = [("message_created", ANN), ("agent_typing", "kevin"), ("agent_done", "kevin"), ("agent_typing", "oscar")]
    assert await feed(office) == told


@pytest.mark.req("S3.22")
@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_the_feed_tells_who_is_at_work_and_when_they_are_done(office: Store, status: Status) -> None:
    await said(office, await dm(office, KEVIN, OSCAR), sender=KEVIN)
    [run] = await claims(office)
    await written(office, Writer(run).part(move=Release()))
    [run] = await claims(office)  # a second claim is not told
    if status is Status.CANCELED:
        await office.cancel(ANN, run.id, MANY, ending)
    await written(office, Writer(run).finish(status))
    assert await feed(office) == [("message_created", "kevin"), ("agent_typing", "oscar"), ("agent_done", "oscar")]


async def test_who_is_canceled_before_its_turn_passes_nothing_on_early(office: Store) -> None:
    started = runs_of(await said(office, await channel(office, KEVIN, OSCAR, ANGELA)))
    [kevin] = await let_go(office)
    assert (await office.cancel(ANN, started[1], 0, ending)).status is Status.CANCELED
    assert await let_go(office) == [], "Kevin has not ended"
    await written(office, Writer(kevin).finish())
    assert [run.id for run in await let_go(office)] == [started[2]]
    assert ("agent_done", "oscar") not in await feed(office), "nobody was told that it had begun"


async def test_who_is_canceled_in_its_pause_passes_the_turn_on(office: Store) -> None:
    started = runs_of(await said(office, await channel(office, KEVIN, OSCAR, ANGELA)))
    [kevin] = await let_go(office)
    await written(office, Writer(kevin).finish())
    await office.cancel(ANN, started[1], 0, ending)
    assert [run.id for run in await let_go(office)] == [started[2]]


async def test_a_turn_that_got_lost_is_found_again(office: Store) -> None:
    """Whoever waits for a run that is gone is let go by the safety net."""
    here = await channel(office, KEVIN, OSCAR)
    started = runs_of(await said(office, here))
    await office.recover_held_runs()
    [kevin] = await let_go(office)
    assert kevin.agent == "kevin"
    await written(office, Writer(kevin).finish())
    await office.recover_held_runs()
    assert [run.id for run in await let_go(office)] == [started[1]]
    await office.recover_held_runs()
    assert await office.release_held_runs(MANY) == (0, None)


@pytest.mark.req("S3.10", "S3.11")
async def test_many_releases_at_once_let_everybody_go_once(office: Store) -> None:
    started = [runs_of(await said(office, await channel(office, KEVIN, OSCAR))) for _ in range(4)]
    for _ in started:
        [kevin] = [run for run in await claims(office) if run.agent == "kevin"]
        await written(office, Writer(kevin).finish())
    released: list[int] = []

    async def call() -> None:
        released.append((await office.release_held_runs(MANY))[0])

    async with create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(call)
    assert sum(released) == len(started)
    for pair in started:
        [oscar] = await claims(office)
        assert oscar.id == pair[1]
        await written(office, Writer(oscar).finish())


@pytest.mark.req("S3.9", "S3.41")
async def test_three_quick_messages_to_one_agent_run_in_order_one_at_a_time(office: Store) -> None:
    here = await dm(office, KEVIN, OSCAR)
    started = [runs_of(await said(office, here, sender=KEVIN))[0] for _ in range(3)]
    workers = [await a_worker(office) for _ in range(8)]
    for run_id in started:
        taken = [run for worker in workers for run in await claims(office, worker)]
        assert [run.id for run in taken] == [run_id]
        await a_moment()
        await written(office, Writer(taken[0]).finish())
