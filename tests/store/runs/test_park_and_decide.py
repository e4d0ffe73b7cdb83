"""A parked run exists only as rows; the first decision counts, requeues it, and is never lost."""

import pytest
from anyio import create_task_group
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.events import ApprovalDecided
from runyard.domain.runs.append import Appended, Outcome, Park
from runyard.domain.runs.run import Status
from runyard.domain.wait import Wait
from runyard.errors import AlreadyDecided, NotFound, NotParked
from runyard.store import Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    Writer,
    a_post,
    an_approval,
    append,
    approval_request,
    claimed,
    claims,
    decide,
    decision,
    ending,
    log,
    lose,
    post,
    running,
    token,
    waiting,
    written,
)


async def test_a_parked_run_has_no_worker_and_a_clean_record(store: Store) -> None:
    run = await running(store)
    approval = an_approval(run)
    assert await append(store, Writer(run).park(approval)) == Appended(2, 3)
    parked = await store.get_run(ANN, run.id)
    assert (parked.status, parked.worker_id, parked.attempts) == (Status.WAITING, None, 0)
    assert parked.fence > run.fence
    assert await log(store, run.id) == ["run.queued", "approval.requested", "run.waiting"]


async def test_an_approval_is_kept_as_it_was_asked(store: Store) -> None:
    run = await running(store)
    approval = replace(an_approval(run), kind="unknown_outcome", input={"to": ["ann", 1, None, 2.5, {"é": True}]})
    await written(store, Writer(run).part(approval_request(approval), waits=[approval]))
    assert await store.get_wait(ANN, approval.id) == approval
    assert await store.list_waits(ANN, None, 10) == [approval]


async def test_a_decision_is_recorded_with_its_event_and_brings_the_run_back(store: Store) -> None:
    run, approval = await waiting(store)
    decided = await store.answer(ANN, approval.id, "rejected", "carol", decision(approval, "carol"))
    assert decided == replace(approval, state="rejected", answered_by="carol", answered_at=decided.answered_at)
    assert decided.answered_at is not None
    assert await store.get_wait(ANN, approval.id) == decided
    assert await store.list_waits(ANN, None, 10) == []
    back = await store.get_run(ANN, run.id)
    assert (back.status, back.resume_why, back.last_seq) == (Status.QUEUED, "decision", run.last_seq + 1)
    event = (await store.read(run.id, run.last_seq, MANY))[0]
    assert event.payload == ApprovalDecided(approval.id, "approved", "carol")
    again = await claimed(store)
    assert (again.id, again.attempts, again.started_at) == (run.id, 1, run.started_at)
    await written(store, Writer(again).finish())


async def test_the_first_decision_wins(store: Store) -> None:
    run, approval = await waiting(store)
    first = await store.answer(ANN, approval.id, "rejected", "carol", decision(approval, "carol"))
    for state in ("approved", "rejected"):
        with pytest.raises(AlreadyDecided):
            await store.answer(ANN, approval.id, state, "dave", decision(approval, "dave"))
    assert await store.get_wait(ANN, approval.id) == first
    assert (await log(store, run.id)).count("approval.decided") == 1


async def test_of_many_deciders_at_once_one_wins(store: Store) -> None:
    run, approval = await waiting(store)
    won: list[Wait] = []
    lost: list[AlreadyDecided] = []

    async def call(by: str) -> None:
        try:
            won.append(await decide(store, approval, by))
        except AlreadyDecided as error:
            lost.append(error)

    async with create_task_group() as tasks:
        for n in range(10):
            tasks.start_soon(call, f"user {n}")
    assert (len(won), len(lost)) == (1, 9)
    assert await store.get_wait(ANN, approval.id) == won[0]
    assert (await log(store, run.id)).count("approval.decided") == 1
    assert (await claimed(store)).id == run.id


@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_a_run_that_ended_makes_its_open_approvals_void(store: Store, status: Status) -> None:
    run = await running(store)
    writer = Writer(run)
    approval, decided = an_approval(run), an_approval(run)
    await written(store, writer.part(approval_request(approval), approval_request(decided), waits=[approval, decided]))
    await decide(store, decided)
    await written(store, writer.finish(status))
    assert (await store.get_wait(ANN, approval.id)).state == "void"
    assert (await store.get_wait(ANN, decided.id)).state == "approved"
    assert await store.list_waits(ANN, None, 10) == []
    whole = await log(store, run.id)
    with pytest.raises(AlreadyDecided):
        await decide(store, approval)
    assert await log(store, run.id) == whole


async def test_a_decision_after_a_cancel_comes_too_late(store: Store) -> None:
    run, approval = await waiting(store)
    await store.cancel(ANN, run.id, 0, ending)
    with pytest.raises(AlreadyDecided):
        await decide(store, approval)
    assert (await log(store, run.id))[-1] == "run.finished"
    assert await claims(store) == []


async def test_a_decision_while_the_run_is_at_work_is_noted_and_nothing_else(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    approval = an_approval(run)
    await written(store, writer.part(approval_request(approval), waits=[approval]))
    await decide(store, approval)
    still = await store.get_run(ANN, run.id)
    assert (still.status, still.worker_id, still.fence) == (Status.RUNNING, run.worker_id, run.fence)
    assert await append(store, writer.part(token("a"))) == Appended(4, 4)


async def test_a_decision_that_came_before_the_park_is_not_slept_through(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    approval, other = an_approval(run), an_approval(run)
    await written(store, writer.part(approval_request(approval), approval_request(other), waits=[approval, other]))
    await decide(store, approval)
    park = writer.part(token("a"), move=Park(waits=[approval.id, other.id]))
    assert isinstance(await append(store, park), NotParked)
    assert (await store.get_run(ANN, run.id)).status is Status.RUNNING
    assert "model.token" not in await log(store, run.id)
    await written(store, writer.part(batch=park.batch, move=Park(waits=[other.id])))
    assert (await store.get_run(ANN, run.id)).status is Status.WAITING


async def test_a_decision_that_races_the_park_is_never_lost(store: Store) -> None:
    for _ in range(5):
        run = await running(store)
        writer = Writer(run)
        approval = an_approval(run)
        await written(store, writer.part(approval_request(approval), waits=[approval]))
        outcomes: list[Outcome] = []

        async def park(writer: Writer = writer, approval: Wait = approval, outcomes: list[Outcome] = outcomes) -> None:
            outcomes.append(await append(store, writer.part(move=Park(waits=[approval.id]))))

        async with create_task_group() as tasks:
            tasks.start_soon(park)
            tasks.start_soon(decide, store, approval)
        [outcome] = outcomes
        if isinstance(outcome, NotParked):
            writer.batch -= 1
        else:
            writer = Writer(await claimed(store))
            assert writer.run.id == run.id
        await written(store, writer.finish())


async def test_any_decision_of_several_brings_the_run_back_and_it_may_park_again(store: Store) -> None:
    run = await running(store)
    one, two = an_approval(run), an_approval(run)
    await written(store, Writer(run).park(one, two))
    await decide(store, two)
    again = await claimed(store)
    assert again.id == run.id
    await written(store, Writer(again).part(move=Park(waits=[one.id])))
    assert await claims(store) == []
    await decide(store, one)
    assert (await claimed(store)).id == run.id


async def test_a_second_decision_while_the_run_is_queued_leaves_it_queued_once(store: Store) -> None:
    run = await running(store, a_post(lane="agent:a"))
    one, two = an_approval(run), an_approval(run)
    await written(store, Writer(run).park(one, two))
    await decide(store, one)
    await decide(store, two)
    assert (await store.get_run(ANN, run.id)).status is Status.QUEUED
    again = await claimed(store)
    assert (await log(store, run.id)).count("approval.decided") == 2
    follower = await post(store, a_post(lane="agent:a"))
    await written(store, Writer(again).finish())
    assert (await claimed(store)).id == follower
    assert await claims(store) == []


async def test_a_run_that_holds_its_lane_is_next_when_it_comes_back(store: Store) -> None:
    run, approval = await waiting(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    await decide(store, approval)
    assert (await claimed(store)).id == run.id


async def test_a_run_that_yields_its_lane_comes_back_before_those_behind_it(store: Store) -> None:
    run, approval = await waiting(store, a_post(lane="agent:a"), hold=False)
    second = await running(store, a_post(lane="agent:a"))
    third = await post(store, a_post(lane="agent:a"))
    await decide(store, approval)
    assert await claims(store) == []
    await written(store, Writer(second).finish())
    again = await claimed(store)
    assert again.id == run.id
    await written(store, Writer(again).finish())
    assert (await claimed(store)).id == third


async def test_a_run_that_came_back_survives_the_loss_of_its_worker(store: Store) -> None:
    run, approval = await waiting(store)
    await decide(store, approval)
    await lose(store, await claimed(store))
    again = await claimed(store)
    assert (again.id, again.resume_why, again.attempts) == (run.id, "crash", 2)


async def test_an_approval_of_another_owner_is_not_found(store: Store) -> None:
    run, approval = await waiting(store)
    with pytest.raises(NotFound):
        await store.get_wait(BOB, approval.id)
    with pytest.raises(NotFound):
        await store.answer(BOB, approval.id, "approved", BOB, decision(approval))
    assert await store.list_waits(BOB, None, 10) == []
    assert (await store.get_run(ANN, run.id)).status is Status.WAITING


async def test_an_unknown_approval_is_not_found(store: Store) -> None:
    run = await running(store)
    with pytest.raises(NotFound):
        await store.get_wait(ANN, new_id())
    with pytest.raises(NotFound):
        await decide(store, an_approval(run))
