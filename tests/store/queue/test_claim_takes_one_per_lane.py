"""A claim takes the first queued run of each ready lane; a lane never has two."""

import pytest
from anyio import create_task_group

from runyard.base.ids import new_id
from runyard.domain.runs.append import Release
from runyard.domain.runs.run import Run, Status
from runyard.store import Store
from tests.store.factories import (
    ANN,
    Writer,
    a_moment,
    a_post,
    a_thread,
    a_worker,
    claimed,
    claims,
    die,
    ended,
    ending,
    lose,
    post,
    running,
    waiting,
    written,
)


@pytest.mark.req("S0.8")
async def test_a_claimed_run_is_running_under_a_new_fence(store: Store) -> None:
    run_id = await post(store)
    worker = await a_worker(store)
    run = await claimed(store, worker)
    assert (run.id, run.status, run.worker_id) == (run_id, Status.RUNNING, worker)
    assert (run.fence, run.attempts, run.last_batch) == (1, 1, 0)
    assert run.started_at is not None
    assert await store.get_run(ANN, run_id) == run


async def test_a_claim_brings_the_message_that_caused_the_run(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    request, bare = a_post(thread, "hello"), a_post()
    await store.accept([request, bare])
    messages = {claim.run.id: claim.message for claim in await store.claim(await a_worker(store), 5, False)}
    assert messages == {request.run_id: request.message, bare.run_id: None}


async def test_a_claim_writes_no_event(store: Store) -> None:
    run = await running(store)
    assert [event.type for event in await store.read(run.id, 0, 10)] == ["run.queued"]


async def test_each_claim_raises_fence_and_attempts_and_only_the_first_sets_the_start(store: Store) -> None:
    first = await running(store)
    await lose(store, first)
    await a_moment()
    second = await claimed(store)
    assert (second.id, second.attempts, second.started_at) == (first.id, 2, first.started_at)
    assert second.fence > first.fence
    assert second.last_batch == 0


@pytest.mark.invariant(4, 8)
@pytest.mark.req("S3.10")
async def test_one_run_of_a_lane_is_active_at_a_time(store: Store) -> None:
    first, second = a_post(lane="agent:a"), a_post(lane="agent:a")
    await store.accept([first, second])
    assert [run.id for run in await claims(store)] == [first.run_id]
    assert await claims(store) == []


@pytest.mark.invariant(4)
@pytest.mark.req("S3.9")
async def test_a_lane_is_first_in_first_out(store: Store) -> None:
    requests = [a_post(lane="agent:a") for _ in range(5)]
    await store.accept(requests)
    done = []
    for _ in requests:
        run = await claimed(store)
        await written(store, Writer(run).finish())
        done.append(run.id)
    assert done == [request.run_id for request in requests]
    assert await claims(store) == []


@pytest.mark.req("S3.11")
async def test_lanes_do_not_wait_for_one_another(store: Store) -> None:
    busy = await running(store, a_post(lane="agent:busy"))
    await post(store, a_post(lane="agent:busy"))
    free = await post(store, a_post(lane="agent:free"))
    assert (await claimed(store)).id == free != busy.id


@pytest.mark.parametrize("how", ["done", "canceled while waiting", "canceled in the queue", "poison", "parked"])
async def test_a_lane_goes_on_when_its_run_lets_go_of_it(store: Store, how: str) -> None:
    if how == "parked":
        await waiting(store, a_post(lane="agent:a"), hold=False)
    elif how == "canceled while waiting":
        run, _ = await waiting(store, a_post(lane="agent:a"))
        await store.cancel(ANN, run.id, 0, ending)
    elif how == "poison":
        await lose(store, await running(store, a_post(lane="agent:a")), max_attempts=1)
    elif how == "canceled in the queue":
        run = await running(store, a_post(lane="agent:a"))
        await lose(store, run)
        await store.cancel(ANN, run.id, 0, ending)
    else:
        await ended(store, a_post(lane="agent:a"))
    follower = await post(store, a_post(lane="agent:a"))
    assert (await claimed(store)).id == follower


@pytest.mark.invariant(8)
async def test_a_waiting_run_that_holds_its_lane_keeps_others_out(store: Store) -> None:
    await waiting(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    assert await claims(store) == []


async def test_no_more_than_the_limit_is_taken(store: Store) -> None:
    posted = {await post(store) for _ in range(5)}
    first = await claims(store, limit=2)
    assert len(first) == 2
    rest = await claims(store, limit=9)
    assert len(rest) == 3
    assert {run.id for run in [*first, *rest]} == posted
    assert await claims(store, limit=0) == []


async def test_the_longest_waiting_lane_comes_first(store: Store) -> None:
    """Also when its key, and the id of its run, would sort last."""
    keys = ["agent:c", "agent:b", "agent:a"]
    requests = [a_post(lane=key) for key in keys]
    for request in requests:
        await post(store, request)
        await a_moment()
    assert [(await claims(store, limit=1))[0].lane_key for _ in keys] == keys


async def test_a_deep_lane_does_not_starve_the_others(store: Store) -> None:
    """A lane that was served goes behind those that wait."""
    await store.accept([a_post(lane="agent:deep") for _ in range(3)])
    await a_moment()
    await post(store, a_post(lane="agent:shallow"))
    [first] = await claims(store, limit=1)
    await a_moment()
    await written(store, Writer(first).finish())
    [second] = await claims(store, limit=1)
    assert [first.lane_key, second.lane_key] == ["agent:deep", "agent:shallow"]


@pytest.mark.invariant(4)
async def test_a_run_that_comes_back_takes_its_old_place_in_the_lane(store: Store) -> None:
    first = await running(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    await lose(store, first)
    assert (await claimed(store)).id == first.id


async def test_a_worker_whose_lease_ran_out_gets_nothing(store: Store) -> None:
    await post(store)
    late = await a_worker(store)
    await die(store, late)
    assert await claims(store, late) == []
    assert await claims(store, await a_worker(store, ttl_ms=0)) == []
    assert await claims(store, new_id()) == []
    await claimed(store)


@pytest.mark.invariant(4)
@pytest.mark.req("S3.10", "S3.11")
async def test_of_many_claimers_at_once_one_gets_the_lane(store: Store) -> None:
    await store.accept([a_post(lane="agent:a") for _ in range(3)])
    taken: list[Run] = []

    async def call(worker: str) -> None:
        taken.extend(await claims(store, worker))

    async with create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(call, await a_worker(store))
    [run] = taken
    assert await store.list_runs(ANN, {"status": "running"}, None, 10) == [run]


@pytest.mark.invariant(4)
async def test_many_claimers_at_once_share_the_lanes_without_overlap(store: Store) -> None:
    posted = [await post(store) for _ in range(12)]
    taken: list[Run] = []

    async def call(worker: str) -> None:
        taken.extend(await claims(store, worker, limit=3))

    async with create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(call, await a_worker(store))
    # What one claimer had locked, another may have passed over: the rest is there for the next call.
    taken.extend(await claims(store))
    assert sorted(run.id for run in taken) == sorted(posted)


async def test_the_first_claim_notes_the_version_of_the_agent(store: Store) -> None:
    await store.accept([a_post(agent="poet"), a_post(agent="greeter")])
    taken = await store.claim(await a_worker(store), 5, False, {"poet": "v1", "nobody": "v9"})
    assert {claim.run.agent: claim.run.agent_version for claim in taken} == {"poet": "v1", "greeter": None}
    for claim in taken:
        await written(store, Writer(claim.run).part(move=Release()))
    again = await store.claim(await a_worker(store), 5, False, {"poet": "v2", "greeter": "v2"})
    noted = {claim.run.agent: claim.run.agent_version for claim in again}
    assert noted["poet"] == "v1"
    assert {run.agent: run.agent_version for run in await store.list_runs(ANN, {}, None, 5)} == noted
