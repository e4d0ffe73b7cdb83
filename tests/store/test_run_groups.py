"""Runs are counted in groups: of an owner or of all, by day, agent, end and durations."""

from runyard.base.ids import first_id_at
from runyard.domain.runs.run import Status
from runyard.store import Store
from tests.store.factories import ANN, BOB, MINUTE, Writer, a_post, a_worker, claims, post, written

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
