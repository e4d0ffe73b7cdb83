"""A run whose client disconnected is canceled after its grace, unless a client reconnects, or the run waits or ends."""

import pytest

from runyard.base.ids import new_id
from runyard.domain.runs.run import Status
from runyard.store import Store
from tests.store.factories import (
    ANN,
    MANY,
    MINUTE,
    Writer,
    a_moment,
    a_post,
    an_approval,
    claimed,
    decide,
    ended,
    ending,
    in_state,
    log,
    post,
    running,
    waiting,
    written,
)


async def abandoned(store: Store) -> list[str]:
    return [run.id for run in await store.abandon(MANY, MINUTE, ending)]


@pytest.mark.req("S1.27")
async def test_a_running_one_is_flagged_past_the_grace_and_not_before(store: Store) -> None:
    run = await running(store)
    await store.detach(run.id, MINUTE)
    assert await abandoned(store) == []
    await store.detach(run.id, 0)
    await a_moment()
    [found] = await store.abandon(MANY, MINUTE, ending)
    assert (found.id, found.status) == (run.id, Status.RUNNING)
    assert found.cancel_requested_at is not None
    assert await store.runs_to_cancel(run.worker_id or "") == [run.id]
    assert await abandoned(store) == [], "once"


@pytest.mark.req("S1.27")
async def test_a_queued_one_ends_at_once_and_leaves_its_lane(store: Store) -> None:
    run_id = await post(store, a_post(lane="agent:a"))
    after = await post(store, a_post(lane="agent:a"))
    await store.detach(run_id, 0)
    await a_moment()
    assert await abandoned(store) == [run_id]
    assert (await store.get_run(ANN, run_id)).status is Status.CANCELED
    assert (await log(store, run_id))[-1] == "run.finished"
    assert (await claimed(store)).id == after


@pytest.mark.req("S1.27")
async def test_a_client_that_reconnects_saves_its_run(store: Store) -> None:
    run = await running(store)
    await store.detach(run.id, 0)
    assert (await store.heads([run.id]))[run.id].detached
    await store.attach([run.id, new_id()])
    await a_moment()
    assert await abandoned(store) == []
    assert not (await store.heads([run.id]))[run.id].detached


async def test_a_run_that_waits_or_has_ended_is_left_alone(store: Store) -> None:
    parked, _ = await waiting(store)
    done = await ended(store)
    for run in (parked, done):
        await store.detach(run.id, 0)
    await store.detach(new_id(), 0)
    await a_moment()
    assert await abandoned(store) == []


async def test_parking_clears_the_disconnect_deadline(store: Store) -> None:
    run = await running(store)
    await store.detach(run.id, 0)
    approval = an_approval(run)
    await written(store, Writer(run).park(approval))
    await decide(store, approval)
    await a_moment()
    assert await abandoned(store) == []
    assert (await store.get_run(ANN, run.id)).status is Status.QUEUED


@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_an_end_before_the_deadline_stands(store: Store, status: Status) -> None:
    run = await running(store)
    await store.detach(run.id, 0)
    await written(store, Writer(run).finish(status))
    await a_moment()
    assert await abandoned(store) == []
    assert (await store.get_run(ANN, run.id)).status is status


async def test_a_cancel_that_is_under_way_is_not_repeated(store: Store) -> None:
    run = await in_state(store, Status.RUNNING)
    await store.detach(run.id, 0)
    await store.cancel(ANN, run.id, MINUTE, ending)
    before = await store.get_run(ANN, run.id)
    await a_moment()
    assert await abandoned(store) == []
    assert await store.get_run(ANN, run.id) == before
