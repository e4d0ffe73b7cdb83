"""The reaper takes runs from dead workers: back into the queue, or ended as poison or canceled. Live workers keep
theirs."""

import pytest
from anyio import create_task_group

from runyard.base.ids import new_id
from runyard.domain.events import Draft
from runyard.domain.runs.append import Busy, Outcome
from runyard.domain.runs.run import Fate, Run, Status
from runyard.errors import Fenced
from runyard.store import Reaped, Store
from tests.store.factories import (
    ANN,
    MINUTE,
    Writer,
    a_post,
    a_thread,
    a_worker,
    an_approval,
    append,
    approval_request,
    claimed,
    claims,
    decide,
    die,
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


async def test_a_run_of_a_dead_worker_goes_back_into_the_queue(store: Store) -> None:
    run = await running(store)
    await die(store, run.worker_id)
    assert await store.reap(10, 5, ending) == [Reaped(run.id, "requeue")]
    queued = await store.get_run(ANN, run.id)
    assert (queued.status, queued.resume_why, queued.worker_id) == (Status.QUEUED, "crash", None)
    assert (queued.attempts, queued.started_at, queued.finished_at) == (1, run.started_at, None)
    assert queued.fence > run.fence
    assert await log(store, run.id) == ["run.queued"]
    again = await claimed(store)
    assert (again.id, again.resume_why) == (run.id, "crash")


async def test_every_run_of_a_dead_worker_is_taken(store: Store) -> None:
    worker = await a_worker(store)
    for _ in range(4):
        await post(store)
    mine = {run.id for run in await claims(store, worker)}
    await die(store, worker)
    assert {reaped.run_id for reaped in await store.reap(10, 5, ending)} == mine
    assert await store.reap(10, 5, ending) == []


@pytest.mark.parametrize("status", Status)
async def test_runs_that_no_dead_worker_holds_are_left_alone(store: Store, status: Status) -> None:
    run = await in_state(store, status)
    await die(store, await a_worker(store))
    assert await store.reap(10, 5, ending) == []
    assert await store.get_run(ANN, run.id) == run


async def test_a_worker_that_keeps_its_lease_keeps_its_runs(store: Store) -> None:
    run = await running(store)
    assert run.worker_id is not None
    assert (await store.heartbeat(run.worker_id, MINUTE)).alive
    assert await store.reap(10, 5, ending) == []
    await written(store, Writer(run).part(token("a")))


async def test_a_lease_that_ran_out_cannot_be_extended(store: Store) -> None:
    run = await running(store)
    assert run.worker_id is not None
    await die(store, run.worker_id)
    assert not (await store.heartbeat(run.worker_id, MINUTE)).alive
    assert [reaped.run_id for reaped in await store.reap(10, 5, ending)] == [run.id]
    assert not (await store.heartbeat(run.worker_id, MINUTE)).alive


async def test_an_unknown_worker_is_not_alive(store: Store) -> None:
    assert not (await store.heartbeat(new_id(), MINUTE)).alive
    assert list(await store.runs_to_cancel(new_id())) == []


@pytest.mark.invariant(3)
async def test_a_run_that_lost_its_last_attempt_ends_as_poison(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run = await running(store, a_post(thread))
    approval = an_approval(run)
    await written(store, Writer(run).part(approval_request(approval), waits=[approval]))
    follower = await post(store, a_post(thread))
    await die(store, run.worker_id)
    assert await store.reap(10, 1, ending) == [Reaped(run.id, "poison")]
    poison = await store.get_run(ANN, run.id)
    assert (poison.status, poison.error_code, poison.stop_reason) == (Status.ERROR, "poison", "error")
    assert (poison.worker_id, poison.fence > run.fence) == (None, True)
    assert poison.finished_at is not None
    assert (await log(store, run.id))[-2:] == ["run.error", "run.finished"]
    assert (await store.get_wait(ANN, approval.id)).state == "void"
    assert (await claimed(store)).id == follower


async def test_attempts_count_up_to_the_limit(store: Store) -> None:
    await post(store)
    await lose(store, await claimed(store), max_attempts=2)
    run = await claimed(store)
    await lose(store, run, max_attempts=2)
    assert (await store.get_run(ANN, run.id)).error_code == "poison"


async def test_a_second_loss_is_followed_by_a_pause(store: Store) -> None:
    await post(store)
    await lose(store, await claimed(store))
    await lose(store, await claimed(store))
    assert await claims(store, suspects=True) == []


@pytest.mark.invariant(10)
async def test_a_run_that_was_to_be_canceled_is_canceled_when_its_worker_dies(store: Store) -> None:
    run = await running(store)
    await store.cancel(ANN, run.id, MINUTE, ending)
    await die(store, run.worker_id)
    assert await store.reap(10, 1, ending) == [Reaped(run.id, "cancel")]
    canceled = await store.get_run(ANN, run.id)
    assert (canceled.status, canceled.stop_reason, canceled.error_code) == (Status.CANCELED, "cancelled", None)
    assert await log(store, run.id) == ["run.queued", "run.canceled", "run.finished"]


async def test_a_worker_that_ignores_a_cancel_loses_the_run_at_the_deadline(store: Store) -> None:
    writer = Writer(await running(store, a_post(lane="agent:a")))
    follower = await post(store, a_post(lane="agent:a"))
    await store.cancel(ANN, writer.run.id, 0, ending)
    assert await store.reap(10, 5, ending) == [Reaped(writer.run.id, "cancel")]
    assert (await store.get_run(ANN, writer.run.id)).status is Status.CANCELED
    assert isinstance(await append(store, writer.part(token("late"))), Fenced)
    assert isinstance(await append(store, writer.finish(Status.CANCELED)), Fenced)
    assert await log(store, writer.run.id) == ["run.queued", "run.canceled", "run.finished"]
    assert (await claimed(store)).id == follower
    assert await store.reap(10, 5, ending) == []


async def test_before_its_deadline_a_canceled_run_is_its_workers_to_end(store: Store) -> None:
    writer = Writer(await running(store))
    await store.cancel(ANN, writer.run.id, MINUTE, ending)
    assert await store.reap(10, 5, ending) == []
    await written(store, writer.finish(Status.CANCELED))


async def test_the_ending_is_made_for_the_run_as_it_was_and_its_fate(store: Store) -> None:
    asked_for: list[tuple[Run, Fate]] = []

    def note(run: Run, fate: Fate) -> list[Draft]:
        asked_for.append((run, fate))
        return list(ending(run, fate))

    run = await running(store)
    await lose(store, run)
    run = await claimed(store)
    await die(store, run.worker_id)
    await store.reap(10, 2, note)
    [(seen, fate)] = asked_for
    assert fate == "poison"
    assert (seen.id, seen.attempts, seen.last_seq, seen.agent) == (run.id, 2, 1, "default")


async def test_no_more_than_the_limit_is_taken_and_the_rest_next_time(store: Store) -> None:
    for _ in range(3):
        await die(store, (await running(store)).worker_id)
    seen = []
    for _ in range(3):
        reaped = await store.reap(1, 5, ending)
        assert len(reaped) == 1
        seen += [each.run_id for each in reaped]
    assert len(set(seen)) == 3
    assert await store.reap(1, 5, ending) == []


async def test_of_many_reapers_at_once_one_takes_the_run(store: Store) -> None:
    run = await running(store)
    await die(store, run.worker_id)
    taken: list[Reaped] = []

    async def call() -> None:
        taken.extend(await store.reap(10, 1, ending))

    async with create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(call)
    assert taken == [Reaped(run.id, "poison")]
    assert await log(store, run.id) == ["run.queued", "run.error", "run.finished"]


@pytest.mark.invariant(2, 9)
async def test_reaping_and_writing_at_once_end_in_one_truth(store: Store) -> None:
    """Either the part came first and stands in the log, or the reaper did and it was refused; no deadlock."""
    for _ in range(5):
        writers = [Writer(await running(store)) for _ in range(3)]
        outcomes: list[Outcome] = []

        async def write(writers: list[Writer] = writers, outcomes: list[Outcome] = outcomes) -> None:
            parts = [writer.finish() for writer in writers]
            for part, outcome in zip(parts, await store.append(parts), strict=True):
                outcomes.append(await append(store, part) if isinstance(outcome, Busy) else outcome)

        async def reap() -> None:
            await store.reap(10, 1, ending)

        for writer in writers:
            await die(store, writer.run.worker_id)
        async with create_task_group() as tasks:
            tasks.start_soon(reap)
            tasks.start_soon(write)
        for writer, outcome in zip(writers, outcomes, strict=True):
            run = await store.get_run(ANN, writer.run.id)
            words = await log(store, run.id)
            assert words == ["run.queued", "run.error" if isinstance(outcome, Fenced) else "run.output", "run.finished"]


async def test_a_parked_run_needs_no_worker_to_stay(store: Store) -> None:
    worker = await a_worker(store)
    await post(store)
    run = await claimed(store, worker)
    approval = an_approval(run)
    await written(store, Writer(run).park(approval))
    await die(store, worker)
    assert await store.reap(10, 1, ending) == []
    await decide(store, approval)
    assert (await claimed(store)).resume_why == "decision"


async def test_a_decided_run_in_the_queue_needs_no_worker_either(store: Store) -> None:
    run, approval = await waiting(store)
    await decide(store, approval)
    assert await store.reap(10, 1, ending) == []
    assert (await claimed(store)).id == run.id
