"""A run that need not queue is claimed in the commit that accepts it, for a worker that has room."""

import pytest

from runyard.base.ids import new_id
from runyard.domain.runs.run import Status
from runyard.errors import Fenced
from runyard.store import Accepted, Room, Store
from tests.store.factories import (
    ANN,
    Writer,
    a_key,
    a_post,
    a_thread,
    a_worker,
    append,
    claims,
    die,
    ending,
    log,
    post,
    token,
    written,
)


async def accept(store: Store, *posts: object, room: Room | None) -> list[Accepted]:
    results = await store.accept(list(posts), room)  # type: ignore[arg-type]
    assert all(isinstance(result, Accepted) for result in results)
    return list(results)  # type: ignore[arg-type]


async def test_a_run_in_an_idle_lane_is_claimed_as_it_is_accepted(store: Store) -> None:
    worker_id = await a_worker(store)
    thread = await store.create_thread(a_thread())
    request = a_post(thread, "hello")
    [accepted] = await accept(store, request, room=Room(worker_id, 1, {"default": "v1"}))
    assert accepted.claim is not None
    run = accepted.claim.run
    assert run == await store.get_run(ANN, request.run_id)
    assert (run.status, run.fence, run.attempts, run.worker_id) == (Status.RUNNING, 1, 1, worker_id)
    assert (run.agent_version, run.started_at is not None) == ("v1", True)
    assert accepted.claim.message == request.message
    assert await log(store, run.id) == ["run.queued"]
    assert await claims(store) == []
    await written(store, Writer(run).part(token("a")))


@pytest.mark.invariant(4)
async def test_only_the_first_of_a_lane_is_claimed_and_the_rest_follow_in_order(store: Store) -> None:
    room = Room(await a_worker(store), 10)
    first, second, third = [a_post(lane="agent:a") for _ in range(3)]
    results = await accept(store, first, second, third, room=room)
    assert [accepted.claim is not None for accepted in results] == [True, False, False]
    assert await claims(store) == []
    claim = results[0].claim
    assert claim is not None
    await written(store, Writer(claim.run).finish())
    assert [run.id for run in await claims(store)] == [second.run_id]


@pytest.mark.invariant(4, 8)
async def test_a_lane_that_has_others_waiting_is_not_claimed_from(store: Store) -> None:
    await post(store, a_post(lane="agent:a"))
    [accepted] = await accept(store, a_post(lane="agent:a"), room=Room(await a_worker(store), 10))
    assert accepted.claim is None


async def test_no_more_are_claimed_than_there_are_places(store: Store) -> None:
    room = Room(await a_worker(store), 2)
    results = await accept(store, *[a_post() for _ in range(3)], room=room)
    assert sum(accepted.claim is not None for accepted in results) == 2
    assert len(await claims(store)) == 1


async def test_a_worker_whose_lease_ran_out_or_that_is_unknown_gets_nothing(store: Store) -> None:
    dead = await a_worker(store)
    await die(store, dead)
    for worker_id in dead, new_id():
        [accepted] = await accept(store, a_post(), room=Room(worker_id, 1))
        assert accepted.claim is None
    assert len(await claims(store)) == 2


async def test_a_repeated_post_is_not_claimed_again(store: Store) -> None:
    room = Room(await a_worker(store), 10)
    key = a_key()
    [first] = await accept(store, a_post(key=key), room=room)
    [again] = await accept(store, a_post(key=key), room=room)
    assert (again.run_id, again.repeated, again.claim) == (first.run_id, True, None)


async def test_a_run_that_was_claimed_at_once_is_reaped_like_any_other(store: Store) -> None:
    worker_id = await a_worker(store)
    [accepted] = await accept(store, a_post(), room=Room(worker_id, 1))
    assert accepted.claim is not None
    await die(store, worker_id)
    [reaped] = await store.reap(10, 5, ending)
    assert (reaped.run_id, reaped.fate) == (accepted.run_id, "requeue")
    assert isinstance(await append(store, Writer(accepted.claim.run).part(token("late"))), Fenced)
    assert [run.id for run in await claims(store)] == [accepted.run_id]
