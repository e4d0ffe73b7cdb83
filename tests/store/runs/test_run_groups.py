"""Runs are counted in groups: of an owner or of all, by day, agent, end and durations."""

from runyard.base.ids import first_id_at
from runyard.domain.runs.run import Status
from runyard.store import Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    MINUTE,
    Writer,
    a_post,
    a_worker,
    claimed,
    claims,
    decide,
    ended,
    post,
    waiting,
    written,
)

EARLY, HOUR = first_id_at(0), 3_600_000


async def test_runs_are_counted_by_owner_agent_end_and_duration(store: Store) -> None:
    worker_id = await a_worker(store, MINUTE)
    for owner in (ANN, ANN, ANN, BOB):
        await post(store, a_post(owner=owner))
    running = await claims(store, worker_id)
    mine = [run for run in running if run.owner == ANN]
    for run, status in zip(mine, (Status.DONE, Status.DONE, Status.ERROR), strict=True):
        await written(store, Writer(run).finish(status))
    found = await store.run_groups(ANN, EARLY, None, [HOUR])
    assert sorted((group.status, group.runs, group.waited, group.took) for group in found) == [
        ("done", 2, 0, 0),
        ("error", 1, 0, 0),
    ]
    [done] = [group for group in found if group.status is Status.DONE]
    assert (done.usage.input_tokens, done.usage.output_tokens, done.usage.usd) == (6, 8, 1.0)
    assert {group.day for group in found} == {mine[0].created_at // 86_400_000}
    [theirs] = await store.run_groups(BOB, EARLY, mine[0].agent, [0, HOUR])
    assert (theirs.status, theirs.took, theirs.waited, theirs.usage.usd) == ("running", None, 1, 0)
    everyone = await store.run_groups(None, EARLY, None, [HOUR])
    assert sum(group.runs for group in everyone) == 4
    assert await store.run_groups(ANN, EARLY, "another", [HOUR]) == []
    assert await store.run_groups(None, first_id_at(2**47), None, [HOUR]) == []


async def test_runs_are_found_by_id(store: Store) -> None:
    mine, other = await post(store, a_post(owner=ANN)), await post(store, a_post(owner=BOB))
    assert set(await store.get_runs(ANN, [mine, other])) == {mine}
    assert await store.get_runs(ANN, []) == {}


async def test_first_tokens_are_counted_also_of_runs_that_waited(store: Store) -> None:
    quick = await ended(store, a_post(owner=ANN))
    slow, approval = await waiting(store, a_post(owner=ANN))
    assert (await store.get_run(ANN, slow.id)).first_token_ms == 30
    await decide(store, approval)
    await written(store, Writer(await claimed(store)).finish())
    await ended(store, a_post(owner=BOB))
    await post(store, a_post(owner=ANN))
    assert [(await store.get_run(ANN, run.id)).first_token_ms for run in (quick, slow)] == [70, 30]
    found = await store.first_tokens(ANN, EARLY, None, [50, HOUR])
    assert [(group.agent, group.place, group.runs) for group in found] == [(quick.agent, 0, 1), (quick.agent, 1, 1)]
    assert {group.day for group in found} == {quick.created_at // 86_400_000}
    [everyone] = await store.first_tokens(None, EARLY, quick.agent, [HOUR])
    assert (everyone.place, everyone.runs) == (0, 3)
    assert await store.first_tokens(ANN, EARLY, "another", [HOUR]) == []
    assert await store.first_tokens(None, first_id_at(2**47), None, [HOUR]) == []


async def test_the_queue_has_an_age_until_its_runs_start(store: Store) -> None:
    assert (await store.queue_state(None, None, MANY)).oldest_ms is None
    for owner in (ANN, ANN, BOB):
        await post(store, a_post(owner=owner))
    found = await store.queue_state(ANN, None, MANY)
    assert found.runs == 2
    assert found.oldest_ms is not None
    assert 0 <= found.oldest_ms < HOUR
    assert (await store.queue_state(None, None, MANY)).runs == 3
    assert (await store.queue_state(None, None, 1)).runs == 1
    assert (await store.queue_state(ANN, "another", MANY)).runs == 0
    await claims(store, await a_worker(store))
    assert (await store.queue_state(None, None, MANY)).runs == 0
