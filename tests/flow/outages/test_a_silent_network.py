"""Connections to Postgres go silent: nothing passes, and none of them is closed. Pods replace them by themselves."""

from __future__ import annotations

import pytest

from tests.support.faults.proxy import Proxy
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow

WORDS = "".join(f"t{n} " for n in range(40))


@pytest.mark.req("S0.39")
async def test_runs_and_readers_go_on_over_new_connections(flow: Flow) -> None:
    database = flow.database
    assert isinstance(database, PostgresDatabase)
    async with Proxy(database.dsn) as proxy:
        database.url = proxy.url
        pods = [await flow.start(kind, max_attempts=100, database_answer_seconds=2) for kind in ("serve", "worker")]
        readers = [flow.follow(await flow.post(["tokens", 40, 15])) for _ in range(6)]
        for k in (3, 12):
            await readers[0].tokens(k)
            proxy.go_silent()
        for reader in readers:
            await reader.end()
        assert {reader.text for reader in readers} == {WORDS}
        await flow.reached(await flow.post(["tokens", 1]), "done")
        assert all(pod.alive for pod in pods), "no pod had to be restarted"
        await flow.check()


@pytest.mark.parametrize("kind", ["serve", "worker"])
async def test_a_pod_stops_although_its_database_is_silent(flow: Flow, kind: str) -> None:
    """With the default deadline of a statement: the shutdown waits for no socket."""
    database = flow.database
    assert isinstance(database, PostgresDatabase)
    await flow.start("api")
    dsn = database.url
    async with Proxy(database.dsn) as proxy:
        database.url = proxy.url
        pod = await flow.start("serve" if kind == "serve" else "worker")
        run_id = await flow.post(["tokens", 400, 20], pod=flow.apis[0])
        reader = flow.follow(run_id, flow.apis[0])
        await reader.tokens(3)
        proxy.hang()
        pod.terminate()
        await pod.end(60)
        database.url = dsn
        await flow.start("worker", max_attempts=100)
        await reader.end()
