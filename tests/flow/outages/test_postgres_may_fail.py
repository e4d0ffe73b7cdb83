"""The database crashes, is unavailable, or loses answers: nothing acknowledged is lost, nothing is
written twice, and pods recover by themselves."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from runyard.base.clock import SystemClock
from runyard.stores.postgres.store import PostgresStore
from tests.support.eventually import eventually
from tests.support.faults.proxy import Proxy
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Kind, Nursery
from tests.support.servers.postgres_server import PrivatePostgres

WORDS = "".join(f"t{n} " for n in range(60))


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PrivatePostgres]:
    with PrivatePostgres() as server:
        yield server


@pytest.fixture
async def fragile(nursery: Nursery, own_postgres: PrivatePostgres, tmp_path: Path) -> AsyncIterator[Flow]:
    """A scenario on a server that may be crashed."""
    own_postgres.start()
    dsn = own_postgres.create_database(f"flow_{uuid.uuid4().hex}")
    store = PostgresStore(dsn, SystemClock())
    await store.open()
    await store.close()
    flow = Flow(nursery, PostgresDatabase(dsn), tmp_path)
    try:
        yield flow
        await flow.check()
    finally:
        await flow.close()


@pytest.mark.postgres
@pytest.mark.req("S0.39")
async def test_crashes_under_load_lose_and_repeat_nothing(fragile: Flow, own_postgres: PrivatePostgres) -> None:
    flow = fragile
    api = await flow.start("api")
    workers = [await flow.start("worker", max_attempts=100) for _ in range(2)]
    readers = []
    crashes = iter([2, 11, 25] * 5)
    while sum(worker.said("journal.write_retried") for worker in workers) < 3:
        k = next(crashes, None)
        assert k is not None, "15 crashes of Postgres hit fewer than 3 appends"
        runs = await asyncio.gather(*[flow.post(["tokens", 60, 10]) for _ in range(6)])
        readers += [flow.follow(run_id) for run_id in runs]
        await readers[-1].tokens(k)
        await asyncio.to_thread(own_postgres.restart, "immediate")
    await asyncio.gather(*[reader.end() for reader in readers])
    assert {reader.text for reader in readers} == {WORDS}
    assert api.alive
    assert all(worker.alive for worker in workers), "no pod had to be restarted"


async def test_connections_killed_all_the_time(flow: Flow) -> None:
    await flow.start("serve")
    await flow.start("worker", max_attempts=100)
    runs = await asyncio.gather(*[flow.post(["tokens", 60, 10], ["step", "s"]) for _ in range(8)])
    readers = [flow.follow(run_id) for run_id in runs]
    database = flow.database
    assert isinstance(database, PostgresDatabase)
    killed = 0
    for k in range(2, 40, 3):
        await readers[0].tokens(k)
        killed += await database.cut_connections()
    assert killed > 20
    await asyncio.gather(*[reader.end() for reader in readers])
    assert {reader.text for reader in readers} == {WORDS}


@pytest.mark.invariant(5)
@pytest.mark.parametrize("only_commits", [True, False], ids=["of commits", "of anything"])
async def test_answers_that_never_arrive(flow: Flow, only_commits: bool) -> None:
    """The server has done it, the connection ends before its answer: claims, appends, intake, leases, everything."""
    database = flow.database
    assert isinstance(database, PostgresDatabase)
    async with Proxy(database.dsn) as proxy:
        database.url = proxy.url
        await flow.start("serve", max_attempts=100)
        await flow.start("worker", max_attempts=100)
        proxy.only_commits = only_commits
        proxy.lose_every = 5 if only_commits else 15
        threads = [await flow.thread() for _ in range(4)]
        runs = await asyncio.gather(
            *[flow.post(["tokens", 8, 3], ["call", "save"], ["step", "s"], thread=t) for _ in range(4) for t in threads]
        )
        readers = [flow.follow(run_id) for run_id in runs]
        await eventually("enough answers are lost", lambda: proxy.lost >= 10)
        proxy.lose_every = 0
        await flow.check()
        assert {reader.text for reader in readers} == {"".join(f"t{n} " for n in range(8))}


@pytest.mark.invariant(5)
@pytest.mark.parametrize("what", ["claim", "heartbeat", "append", "park", "release", "done", "reap", "runs_to_cancel"])
async def test_a_run_continues_after_one_lost_answer_of(flow: Flow, what: str) -> None:
    """Each operation that a pod repeats or gives up by itself, alone: the run continues after any lost answer."""
    await flow.start("api")
    worker = await flow.start("worker", fault=f"after.{what}:{2 if what == 'reap' else 1}:lose")
    run_id = await flow.post(["tokens", 3], ["wait", "middle"], ["call", "send"], ["tokens", 3])
    await flow.at_gate("middle")
    if what == "release":
        await flow.start("worker")
        worker.terminate()
        await worker.end()
    elif what in ("heartbeat", "runs_to_cancel", "reap"):
        await flow.struck(f"after.{what}")
    flow.notes.open_gate("middle")
    approval = await flow.approval(run_id)
    assert (await flow.decide(approval, "approve")).status_code == 200
    await flow.reached(run_id, "done")


async def test_a_write_that_fails_unforeseen_does_not_strand_its_run(flow: Flow) -> None:
    """Its worker lives on and keeps its lease, so no other worker takes the run: it must end or continue."""
    await flow.start("api")
    await flow.start("worker", fault="before.model.token:2:break")
    neighbour = await flow.post(["wait", "end"], ["tokens", 3])
    run_id = await flow.post(["tokens", 10, 5])
    await flow.reached(run_id, "done", "error")
    flow.notes.open_gate("end")
    await flow.reached(neighbour, "done")


@pytest.mark.parametrize("kind", ["api", "serve"])
async def test_a_run_continues_after_one_lost_answer_of_accept(flow: Flow, kind: Kind) -> None:
    """The client asks again with its key; a pod with a worker may have claimed the run without knowing."""
    await flow.start(kind, fault="after.accept:1:lose")
    if kind == "api":
        await flow.start("worker")
    await flow.reached(await flow.post(["tokens", 3]), "done")


async def test_a_run_that_reads_waits_for_an_unavailable_database(flow: Flow) -> None:
    """The agent does not see it: only its own errors end its run."""
    database = flow.database
    assert isinstance(database, PostgresDatabase)
    async with Proxy(database.dsn) as proxy:
        database.url = proxy.url
        pod = await flow.start("serve", lease_seconds=60)
        run_id = await flow.post(["wait", "before"], ["history"], ["tokens", 1])
        await flow.at_gate("before")
        proxy.leave()
        flow.notes.open_gate("before")
        await eventually("the run waits", lambda: pod.said("run.database_call_retried"))
        proxy.come_back()
        reader = flow.follow(run_id)
        await reader.end()
        assert reader.text == "0 messages t0 "
        await flow.reached(run_id, "done")
        await flow.check()


async def test_away_for_longer_than_the_lease(flow: Flow) -> None:
    database = flow.database
    assert isinstance(database, PostgresDatabase)
    async with Proxy(database.dsn) as proxy:
        database.url = proxy.url
        pods = [await flow.start("serve", max_attempts=100), await flow.start("worker", max_attempts=100)]
        threads = [await flow.thread() for _ in range(4)]
        runs = [await flow.post(["tokens", 60, 15], thread=thread) for thread in threads]
        readers = [flow.follow(run_id) for run_id in runs]
        await readers[0].tokens(4)
        proxy.leave()
        await eventually("a worker gives up its runs by itself", lambda: any(p.said("worker.lease_lost") for p in pods))
        for method, path, body in (
            ("POST", f"/api/threads/{threads[0]}/messages", {"content": "[]"}),
            ("POST", "/api/threads", {}),
            ("GET", f"/api/runs/{runs[0]}", None),
            ("GET", f"/api/runs/{runs[0]}/log", None),
            ("POST", f"/api/runs/{runs[0]}/cancel", None),
            ("GET", "/health", None),
        ):
            answer = await flow.request(method, path, pods[0], json=body)
            assert answer.status_code == 503, f"{method} {path}: {answer.status_code} {answer.text}"
            assert answer.json()["code"] == "unavailable"
            assert int(answer.headers["retry-after"]) >= 1
        proxy.come_back()
        await asyncio.gather(*[reader.end() for reader in readers])
        assert {reader.text for reader in readers} == {WORDS}
        after = await flow.post(["tokens", 1])
        await flow.reached(after, "done")
        assert all(pod.alive for pod in pods), "no pod had to be restarted"
        await flow.check()
