"""A run that a drain releases does not count an attempt, and waits no longer than its pause."""

from anyio import fail_after

from runyard.domain.events import StepFinished
from runyard.domain.runs.append import Appended, Release
from runyard.domain.runs.run import Run, Status
from runyard.errors import Fenced
from runyard.store import Store
from tests.store.factories import (
    ANN,
    MINUTE,
    Writer,
    a_moment,
    a_post,
    a_suspect,
    append,
    claimed,
    claims,
    draft,
    ending,
    log,
    lose,
    post,
    running,
    token,
    written,
)


async def test_a_released_run_is_queued_again_with_its_attempt_refunded(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).part(token("a"), move=Release()))
    released = await store.get_run(ANN, run.id)
    assert (released.status, released.resume_why, released.worker_id) == (Status.QUEUED, "drain", None)
    assert (released.attempts, released.started_at) == (0, run.started_at)
    assert released.fence > run.fence
    assert await log(store, run.id) == ["run.queued", "model.token"]
    again = await claimed(store)
    assert (again.id, again.attempts, again.resume_why) == (run.id, 1, "drain")


async def test_a_worker_that_released_a_run_has_no_more_say(store: Store) -> None:
    writer = Writer(await running(store))
    await written(store, writer.part(move=Release()))
    assert isinstance(await append(store, writer.part(token("a"))), Fenced)


async def test_the_refund_never_goes_below_nothing(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).part(draft(StepFinished("s#1", "look up")), move=Release()))
    assert (await store.get_run(ANN, run.id)).attempts == 0


async def test_only_the_attempt_of_this_claim_is_refunded(store: Store) -> None:
    run = await running(store)
    await lose(store, run)
    again = await claimed(store)
    await written(store, Writer(again).part(move=Release()))
    assert (await store.get_run(ANN, run.id)).attempts == 1


async def test_a_released_suspect_is_still_a_suspect(store: Store) -> None:
    suspect = await a_suspect(store, "agent:a")
    [run] = await claims(store, suspects=True)
    await written(store, Writer(run).part(move=Release()))
    assert await claims(store, suspects=False) == []
    assert [run.id for run in await claims(store, suspects=True)] == [suspect.id]


async def test_a_released_run_comes_before_those_behind_it(store: Store) -> None:
    run = await running(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    await written(store, Writer(run).part(move=Release()))
    assert (await claimed(store)).id == run.id


async def test_a_delayed_run_is_not_claimed_before_its_time(store: Store) -> None:
    run = await running(store, a_post(lane="agent:a"))
    await written(store, Writer(run).part(move=Release(delay_ms=MINUTE)))
    await post(store, a_post(lane="agent:a"))
    assert await claims(store) == []


async def test_a_delayed_run_is_claimed_when_its_time_has_come(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).part(move=Release(delay_ms=20)))
    taken: list[Run] = []
    with fail_after(10):
        while not taken:
            await a_moment()
            taken = await claims(store)
    assert [each.id for each in taken] == [run.id]


async def test_a_lane_does_not_inherit_the_delay_of_a_run_that_is_gone(store: Store) -> None:
    run = await running(store, a_post(lane="agent:a"))
    await written(store, Writer(run).part(move=Release(delay_ms=MINUTE)))
    await store.cancel(ANN, run.id, 0, ending)
    follower = await post(store, a_post(lane="agent:a"))
    assert (await claimed(store)).id == follower


async def test_of_two_releases_in_one_commit_only_the_first_counts(store: Store) -> None:
    """Each part of a group is judged on what the parts before it left."""
    run = await running(store)
    first, second = await store.append([Writer(run).part(move=Release()), Writer(run).part(move=Release())])
    assert isinstance(first, Appended)
    assert isinstance(second, Fenced)
    assert (await claimed(store)).id == run.id
