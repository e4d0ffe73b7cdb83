"""Cancel: a run without a worker ends at once, a running one gets a request, and all callers see the same end."""

import pytest
from anyio import create_task_group

from runyard.base.ids import new_id
from runyard.domain.runs.append import Appended, Outcome, Release
from runyard.domain.runs.run import Run, Status
from runyard.errors import CancelRequested, Fenced, NotFound
from runyard.store import Store
from tests.store.factories import (
    ANN,
    BOB,
    MINUTE,
    Writer,
    a_post,
    a_worker,
    an_approval,
    append,
    claimed,
    claims,
    ended,
    ending,
    in_state,
    log,
    lose,
    post,
    running,
    token,
    waiting,
    written,
)

ENDED = [Status.DONE, Status.ERROR, Status.CANCELED]


async def cancel(store: Store, run_id: str, grace_ms: int = MINUTE) -> Run:
    return await store.cancel(ANN, run_id, grace_ms, ending)


async def test_a_queued_run_ends_at_once(store: Store) -> None:
    run_id = await post(store)
    run = await cancel(store, run_id)
    assert (run.status, run.stop_reason, run.started_at) == (Status.CANCELED, "cancelled", None)
    assert run.finished_at is not None
    assert await store.get_run(ANN, run_id) == run
    assert await log(store, run_id) == ["run.queued", "run.canceled", "run.finished"]


async def test_a_run_canceled_in_the_queue_is_never_claimed(store: Store) -> None:
    first, second = await post(store, a_post(lane="agent:a")), await post(store, a_post(lane="agent:a"))
    await cancel(store, first)
    assert (await claimed(store)).id == second
    assert (await store.get_run(ANN, first)).status is Status.CANCELED


@pytest.mark.invariant(8)
async def test_canceling_the_last_of_a_lane_leaves_the_lane_usable(store: Store) -> None:
    await cancel(store, await post(store, a_post(lane="agent:a")))
    assert await claims(store) == []
    again = await post(store, a_post(lane="agent:a"))
    assert (await claimed(store)).id == again


@pytest.mark.invariant(8)
async def test_a_run_behind_the_active_one_can_be_canceled(store: Store) -> None:
    active = await running(store, a_post(lane="agent:a"))
    behind, last = await post(store, a_post(lane="agent:a")), await post(store, a_post(lane="agent:a"))
    await cancel(store, behind)
    await written(store, Writer(active).finish())
    assert (await claimed(store)).id == last


async def test_a_waiting_run_ends_at_once_and_frees_its_lane(store: Store) -> None:
    run, approval = await waiting(store, a_post(lane="agent:a"))
    follower = await post(store, a_post(lane="agent:a"))
    assert (await cancel(store, run.id)).status is Status.CANCELED
    assert (await log(store, run.id))[-2:] == ["run.canceled", "run.finished"]
    assert (await store.get_wait(ANN, approval.id)).state == "void"
    assert await store.list_waits(ANN, None, 10) == []
    assert (await claimed(store)).id == follower


async def test_a_waiting_run_without_the_lane_ends_without_disturbing_who_has_it(store: Store) -> None:
    run, _ = await waiting(store, a_post(lane="agent:a"), hold=False)
    await running(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    assert (await cancel(store, run.id)).status is Status.CANCELED
    assert await claims(store) == []


async def test_a_running_run_is_flagged_and_goes_on_until_its_worker_hears_of_it(store: Store) -> None:
    run = await running(store)
    flagged = await cancel(store, run.id)
    assert flagged.status is Status.RUNNING
    assert flagged.cancel_requested_at is not None
    assert (flagged.fence, flagged.worker_id) == (run.fence, run.worker_id)
    assert await log(store, run.id) == ["run.queued"]
    assert await append(store, Writer(run).part(token("a"))) == Appended(2, 2, cancel_requested=True)


async def test_a_worker_is_told_which_of_its_runs_to_cancel(store: Store) -> None:
    worker, other = await a_worker(store), await a_worker(store)
    await post(store)
    await post(store)
    one, two = await claims(store, worker)
    await post(store)
    three = await claimed(store, other)
    assert list(await store.runs_to_cancel(worker)) == []
    await cancel(store, one.id)
    await cancel(store, three.id)
    assert list(await store.runs_to_cancel(worker)) == [one.id]
    assert list(await store.runs_to_cancel(worker)) == [one.id]
    await cancel(store, two.id)
    assert sorted(await store.runs_to_cancel(worker)) == sorted([one.id, two.id])
    await written(store, Writer(one).finish(Status.CANCELED))
    assert list(await store.runs_to_cancel(worker)) == [two.id]
    assert list(await store.runs_to_cancel(worker)) == [two.id]


@pytest.mark.invariant(10)
@pytest.mark.req("S0.28")
@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR])
async def test_a_run_that_is_to_be_canceled_cannot_end_otherwise(store: Store, status: Status) -> None:
    writer = Writer(await running(store))
    await cancel(store, writer.run.id)
    assert isinstance(await append(store, writer.finish(status)), CancelRequested)
    assert await log(store, writer.run.id) == ["run.queued"]
    writer.batch = 0
    await written(store, writer.finish(Status.CANCELED))
    assert (await store.get_run(ANN, writer.run.id)).status is Status.CANCELED
    assert await log(store, writer.run.id) == ["run.queued", "run.canceled", "run.finished"]


@pytest.mark.invariant(10)
async def test_a_run_that_is_to_be_canceled_neither_parks_nor_goes_back(store: Store) -> None:
    run = await running(store)
    await cancel(store, run.id)
    approval = an_approval(run)
    assert isinstance(await append(store, Writer(run).park(approval)), CancelRequested)
    assert isinstance(await append(store, Writer(run).part(move=Release())), CancelRequested)
    with pytest.raises(NotFound):
        await store.get_wait(ANN, approval.id)
    assert (await store.get_run(ANN, run.id)).status is Status.RUNNING


async def test_a_run_that_came_back_to_the_queue_can_be_canceled(store: Store) -> None:
    run = await running(store)
    await lose(store, run)
    assert (await cancel(store, run.id)).status is Status.CANCELED
    assert isinstance(await append(store, Writer(run).part(token("a"))), Fenced)
    assert await claims(store) == []


@pytest.mark.invariant(3, 10)
@pytest.mark.req("S0.8")
@pytest.mark.parametrize("status", ENDED)
async def test_an_ended_run_stays_as_it_is(store: Store, status: Status) -> None:
    run = await ended(store, status=status)
    whole = await log(store, run.id)
    assert await cancel(store, run.id) == run
    assert await store.get_run(ANN, run.id) == run
    assert await log(store, run.id) == whole


@pytest.mark.parametrize("status", Status)
async def test_a_repeated_cancel_changes_nothing(store: Store, status: Status) -> None:
    run = await in_state(store, status)
    first = await cancel(store, run.id)
    whole = await log(store, run.id)
    assert await cancel(store, run.id, 0) == first
    assert await log(store, run.id) == whole


async def test_a_repeated_cancel_does_not_move_the_deadline(store: Store) -> None:
    run = await running(store)
    await cancel(store, run.id, 0)
    await cancel(store, run.id, MINUTE)
    assert [reaped.run_id for reaped in await store.reap(10, 9, ending)] == [run.id]


@pytest.mark.invariant(10)
@pytest.mark.parametrize("status", Status)
async def test_of_many_callers_at_once_all_see_the_same_end(store: Store, status: Status) -> None:
    run = await in_state(store, status)
    answers: list[Run] = []

    async def call() -> None:
        answers.append(await cancel(store, run.id))

    async with create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(call)
    assert answers == [await store.get_run(ANN, run.id)] * 10
    if status in (Status.QUEUED, Status.WAITING, *ENDED):
        assert (await log(store, run.id)).count("run.finished") == 1


@pytest.mark.invariant(3, 10)
@pytest.mark.req("S0.28", "S4.23")
async def test_a_cancel_that_races_the_finish_leaves_one_end(store: Store) -> None:
    for _ in range(5):
        writer = Writer(await running(store))
        outcomes: list[Outcome] = []

        async def finish(writer: Writer = writer, outcomes: list[Outcome] = outcomes) -> None:
            outcomes.append(await append(store, writer.finish()))

        async with create_task_group() as tasks:
            tasks.start_soon(finish)
            tasks.start_soon(cancel, store, writer.run.id)
        [outcome] = outcomes
        if isinstance(outcome, CancelRequested):
            writer.batch = 0
            await written(store, writer.finish(Status.CANCELED))
        run = await store.get_run(ANN, writer.run.id)
        whole = await log(store, run.id)
        assert whole == ["run.queued", "run.output" if run.status is Status.DONE else "run.canceled", "run.finished"]


async def test_a_run_of_another_owner_cannot_be_canceled(store: Store) -> None:
    run_id = await post(store)
    with pytest.raises(NotFound):
        await store.cancel(BOB, run_id, 0, ending)
    with pytest.raises(NotFound):
        await cancel(store, new_id())
    assert (await store.get_run(ANN, run_id)).status is Status.QUEUED
