"""deploy/helm: the rendered commands start with the rendered environment, become ready, and drain within the grace.

Real processes on a private Postgres, with a read-only file system. `rendered_pods.py` says what only a cluster has.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.deploy.chart import Rendered, render
from tests.deploy.rendered_pods import RenderedPod, client_of, posted, ready, running, status
from tests.support.eventually import eventually
from tests.support.faults.proxy import Proxy

pytestmark = pytest.mark.flow


def rendered_for(dsn: str, **values: Any) -> Rendered:
    """The chart on this database, with little time for runs to end by themselves."""
    shutdown = {"drainSeconds": 0.2, "stopSeconds": 1, "preStopSeconds": 0}
    return render({"secret": {"data": {"RUNYARD_DATABASE_URL": dsn}}, "shutdown": shutdown, **values})


@pytest.mark.req("S0.40")
async def test_pods_come_up_and_a_drained_run_goes_back_in_time(migrated_database: str, tmp_path: Path) -> None:
    rendered = rendered_for(migrated_database)
    with ExitStack() as stack:
        serve = stack.enter_context(running(rendered, "serve", tmp_path / "serve"))
        first = stack.enter_context(running(rendered, "worker", tmp_path / "first"))
        await ready(serve)
        await ready(first)
        async with client_of(serve) as http:
            _, run = await posted(http, "slow")
            await eventually("the run has begun", lambda: _has_begun(http, run))

            assert first.terminate() < first.grace
            assert '"worker.drain_started"' in first.log
            assert await status(http, run) == "queued", "the run is back in the queue"

            second = stack.enter_context(running(rendered, "worker", tmp_path / "second"))
            await ready(second)
            await eventually("another worker ends the run", lambda: _is(http, run, "done"))
            events = await _log(http, run)
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert [event["data"]["why"] for event in events if event["type"] == "run.resumed"] == ["drain"]
            assert second.terminate() < second.grace
        assert serve.terminate() < serve.grace


async def _has_begun(http: httpx2.AsyncClient, run: str) -> bool:
    return await status(http, run) == "running"


async def _is(http: httpx2.AsyncClient, run: str, wanted: str) -> bool:
    return await status(http, run) == wanted


async def _log(http: httpx2.AsyncClient, run: str) -> list[dict[str, Any]]:
    text = (await http.get(f"/api/runs/{run}/log?after=0")).text
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


async def test_an_unavailable_database_makes_pods_unready_and_restarts_none(
    migrated_database: str, tmp_path: Path
) -> None:
    async with Proxy(migrated_database) as proxy:
        rendered = rendered_for(proxy.url)
        with ExitStack() as stack:
            pods = [stack.enter_context(running(rendered, name, tmp_path / name)) for name in ("serve", "worker")]
            for pod in pods:
                await ready(pod)
            proxy.leave()
            for pod in pods:
                await eventually(f"{pod.component} is not ready", partial(_is_unready, pod))
                assert await asyncio.to_thread(pod.passes, "livenessProbe"), "a restart brings no database back"
            proxy.come_back()
            for pod in pods:
                await ready(pod)
                assert await asyncio.to_thread(pod.terminate) < pod.grace


async def _is_unready(pod: RenderedPod) -> bool:
    return not await asyncio.to_thread(pod.passes, "readinessProbe")


async def test_keda_counts_the_runs_that_a_worker_could_work_on(migrated_database: str, tmp_path: Path) -> None:
    """Not the queue: a run behind one that waits for a person for a month must not keep a worker alive."""
    rendered = rendered_for(migrated_database, worker={"keda": {"enabled": True}})
    [scaled] = rendered.of("ScaledObject")
    query = scaled["spec"]["triggers"][0]["metadata"]["query"]
    connection = await asyncpg.connect(migrated_database)

    async def counted(wanted: int) -> bool:
        return float(await connection.fetchval(query)) == wanted

    try:
        assert await counted(0), "no worker is needed for nothing"
        with ExitStack() as stack:
            serve = stack.enter_context(running(rendered, "serve", tmp_path / "serve"))
            async with client_of(await ready(serve)) as http:
                thread, _ = await posted(http, "tokens")
                await posted(http, "tokens", thread)
                await posted(http, "tokens")
                assert await counted(2), "three runs in two threads keep two workers busy at most"
                worker = stack.enter_context(running(rendered, "worker", tmp_path / "worker"))
                await eventually("nothing is left to do", lambda: counted(0))

                _, slow = await posted(http, "slow")
                await eventually("the run has begun", lambda: _has_begun(http, slow))
                assert await counted(1), "a running run keeps its worker"
                await eventually("the run has ended", lambda: _is(http, slow, "done"))

                thread, waiting = await _asked_for_an_approval(http)
                _, behind = await posted(http, "tokens", thread)
                assert await counted(0)
                assert await status(http, behind) == "queued"
                await eventually("the gauge of the queue is refreshed", lambda: _has_depth(http, 1))
                assert worker.passes("livenessProbe")
                assert (await http.post(f"/api/runs/{waiting}/cancel")).status_code == 200
    finally:
        await connection.close()


async def _has_depth(http: httpx2.AsyncClient, depth: int) -> bool:
    return f"runyard_queue_depth {depth}.0\n" in (await http.get("/metrics")).text


async def _asked_for_an_approval(http: httpx2.AsyncClient) -> tuple[str, str]:
    thread = (await http.post("/api/threads", json={"agent": "assistant"})).json()["thread_id"]
    said = {"content": "I want my money back for A-1001"}
    run = (await http.post(f"/api/threads/{thread}/messages", json=said)).json()["run_id"]

    async def asks() -> bool:
        return any(each["run_id"] == run for each in (await http.get("/api/approvals")).json()["approvals"])

    await eventually("the run asks for an approval", asks)
    return thread, run


def test_a_pod_cannot_write_outside_its_volumes(migrated_database: str, tmp_path: Path) -> None:
    """The proof that the other tests mean something."""
    pod = RenderedPod(rendered_for(migrated_database), "serve", tmp_path / "serve")
    for place in ("/", "/etc", "/usr", str(tmp_path)):
        told = pod.execute("touch", f"{place}/written")
        assert told.returncode != 0, place
        assert "Read-only file system" in told.stderr or "No such file" in told.stderr
    for place in pod.container.writable:
        assert pod.execute("touch", f"{place}/written").returncode == 0
    assert pod.execute("id", "-u").stdout.strip() == "10001"
