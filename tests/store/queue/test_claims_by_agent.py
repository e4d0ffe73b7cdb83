"""A claim may be limited to some agents; `ready_runs` tells which runs could be claimed."""

from runyard.domain.runs.run import SUSPECT_ATTEMPTS, Run
from runyard.store import AgentFilter, Room, Store
from tests.store.factories import a_moment, a_post, a_thread, a_worker, lose

PAINTER = AgentFilter(["painter"])
OTHERS = AgentFilter(["painter"], are_excluded=True)


async def _queue(store: Store, *agents: str) -> list[str]:
    posts = [a_post(agent=agent) for agent in agents]
    await store.accept(posts)
    return [post.run_id for post in posts]


async def _taken(store: Store, agents: AgentFilter | None, limit: int = 5) -> list[str]:
    claims = await store.claim(await a_worker(store), limit, True, agents=agents)
    return sorted(claim.run.id for claim in claims)


async def test_a_claim_takes_runs_of_the_named_agents_only(store: Store) -> None:
    writer, painter, other = await _queue(store, "writer", "painter", "painter")
    assert await _taken(store, PAINTER) == sorted([painter, other])
    assert await _taken(store, PAINTER) == []
    assert await _taken(store, None) == [writer]


async def test_excluded_agents_do_not_use_up_the_limit(store: Store) -> None:
    *_, writer = await _queue(store, "painter", "painter", "writer")
    assert await _taken(store, OTHERS, limit=1) == [writer]
    assert await _taken(store, OTHERS, limit=1) == []


async def test_a_filter_looks_at_the_first_run_of_a_lane(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    posts = [a_post(thread, agent="writer"), a_post(thread, agent="painter")]
    await store.accept(posts)
    assert await _taken(store, PAINTER) == []
    assert await _taken(store, OTHERS) == [posts[0].run_id]


async def test_a_dead_worker_gets_no_run_by_agent(store: Store) -> None:
    await _queue(store, "painter")
    worker = await a_worker(store)
    await store.retire(worker)
    assert await store.claim(worker, 5, True, agents=PAINTER) == []


async def test_a_suspect_of_another_agent_is_left_alone(store: Store) -> None:
    [run_id] = await _queue(store, "painter")
    for _ in range(SUSPECT_ATTEMPTS):
        [claim] = await store.claim(await a_worker(store), 1, True)
        await lose(store, claim.run)
        await a_moment()
    await _until_ready(store, run_id)
    assert await _taken(store, OTHERS) == []
    assert await _taken(store, PAINTER) == [run_id]


async def _until_ready(store: Store, run_id: str) -> None:
    while [run.run_id for run in await store.ready_runs(5)] != [run_id]:
        await a_moment()  # the back-off of a lost run


async def test_an_accepted_run_of_another_agent_is_not_claimed_at_once(store: Store) -> None:
    worker = await a_worker(store)
    posts = [a_post(agent="painter"), a_post(agent="writer")]
    painter, writer = await store.accept(posts, Room(worker, 5, agents=OTHERS))
    assert getattr(painter, "claim", None) is None
    assert isinstance(getattr(writer, "claim", None).run, Run)  # type: ignore[union-attr]


async def test_ready_runs_are_the_first_of_each_ready_lane(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    first, second, alone = a_post(thread, agent="writer"), a_post(thread), a_post(agent="painter")
    await store.accept([first, second, alone])
    ready = await store.ready_runs(5)
    assert {(run.run_id, run.agent) for run in ready} == {(first.run_id, "writer"), (alone.run_id, "painter")}
    assert [run.ready_at for run in ready] == sorted(run.ready_at for run in ready)
    assert len(await store.ready_runs(1)) == 1
    await store.claim(await a_worker(store), 5, False)
    assert await store.ready_runs(5) == []
