"""A run that lost its worker twice without progress may be what kills workers: it is claimed on request, and alone."""

from runyard.domain.events import StepFinished
from runyard.domain.runs.run import SUSPECT_ATTEMPTS
from runyard.store import Store
from tests.store.factories import (
    ANN,
    Writer,
    a_post,
    a_suspect,
    a_worker,
    claimed,
    claims,
    draft,
    ending,
    lose,
    post,
    running,
    token,
    written,
)


async def test_a_suspect_is_left_alone_unless_asked_for(store: Store) -> None:
    suspect = await a_suspect(store, "agent:a")
    assert suspect.attempts == SUSPECT_ATTEMPTS
    assert await claims(store, suspects=False) == []
    [run] = await claims(store, suspects=True)
    assert (run.id, run.attempts) == (suspect.id, SUSPECT_ATTEMPTS + 1)


async def test_at_most_one_suspect_is_taken_by_a_claim(store: Store) -> None:
    suspects = {(await a_suspect(store, f"agent:{name}")).id for name in "abc"}
    worker = await a_worker(store)
    taken = []
    for left in (3, 2, 1):
        [run] = await claims(store, worker, suspects=True)
        taken.append(run.id)
        assert len(suspects - set(taken)) == left - 1
    assert set(taken) == suspects


async def test_suspects_do_not_use_up_the_places_of_other_runs(store: Store) -> None:
    for name in "abc":
        await a_suspect(store, f"agent:{name}")
    innocent = {await post(store), await post(store)}
    assert {run.id for run in await claims(store, limit=2, suspects=False)} == innocent


async def test_an_innocent_run_is_claimed_together_with_one_suspect(store: Store) -> None:
    suspects = {(await a_suspect(store, f"agent:{name}")).id for name in "ab"}
    innocent = {await post(store), await post(store)}
    taken = {run.id for run in await claims(store, suspects=True)}
    assert innocent < taken
    assert len(taken & suspects) == 1


async def test_the_runs_behind_a_suspect_wait_for_it(store: Store) -> None:
    await a_suspect(store, "agent:a")
    await post(store, a_post(lane="agent:a"))
    assert await claims(store, suspects=False) == []


async def test_a_lane_is_free_of_suspicion_when_the_suspect_is_canceled(store: Store) -> None:
    suspect = await a_suspect(store, "agent:a")
    follower = await post(store, a_post(lane="agent:a"))
    assert await claims(store, suspects=False) == []
    await store.cancel(ANN, suspect.id, 0, ending)
    assert [run.id for run in await claims(store, suspects=False)] == [follower]


async def test_a_lane_is_free_of_suspicion_when_the_suspect_has_ended(store: Store) -> None:
    await a_suspect(store, "agent:a")
    follower = await post(store, a_post(lane="agent:a"))
    [suspect] = await claims(store, suspects=True)
    await written(store, Writer(suspect).finish())
    assert [run.id for run in await claims(store, suspects=False)] == [follower]


async def test_progress_clears_a_suspect(store: Store) -> None:
    await a_suspect(store, "agent:a")
    [suspect] = await claims(store, suspects=True)
    await written(store, Writer(suspect).part(draft(StepFinished("s#1", "look up"))))
    assert (await store.get_run(ANN, suspect.id)).attempts == 0
    await lose(store, suspect)
    assert (await claimed(store)).id == suspect.id


async def test_tokens_are_no_progress(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).part(token("a")))
    assert (await store.get_run(ANN, run.id)).attempts == 1
