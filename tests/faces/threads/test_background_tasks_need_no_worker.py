"""A process without a worker takes runs from dead workers, enforces cancels and releases held runs, like any other
process."""

import pytest

from runyard.domain.runs.run import Run
from tests.store.factories import a_worker, claimed, die
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server


async def run_of_a_dead_worker(server: Server) -> Run:
    """A run that was claimed by a worker which no longer lives."""
    await server.post("gated")
    run = await claimed(server.store, await a_worker(server.store))
    await die(server.store, run.worker_id)
    return run


async def has_status(server: Server, run_id: str, status: str) -> bool:
    return bool((await server.run(run_id))["status"] == status)


@pytest.mark.req("S0.6", "S0.27")
async def test_a_canceled_run_of_the_last_worker_ends_without_any_worker(serve: Serve) -> None:
    server = await serve(worker=False, reap_seconds=0.05, cancel_seconds=0.05)
    await server.post("gated")
    run = await claimed(server.store, await a_worker(server.store))
    await server.http.post(f"/api/runs/{run.id}/cancel")
    await eventually("the cancel was enforced", lambda: has_status(server, run.id, "canceled"))
    types = [event["type"] for event in await server.log(run.id)]
    assert types[-2:] == ["run.canceled", "run.finished"]


@pytest.mark.req("S0.33", "S0.38")
async def test_a_run_of_a_dead_worker_goes_back_into_the_queue_without_any_worker(serve: Serve) -> None:
    server = await serve(worker=False, reap_seconds=0.05)
    run = await run_of_a_dead_worker(server)
    await eventually("it was queued again", lambda: has_status(server, run.id, "queued"))


async def test_every_background_task_runs_without_a_worker(serve: Serve) -> None:
    with_worker = await serve(retention_days=1)
    tasks = {loop.get_name() for loop in with_worker.process._loops}
    await with_worker.process.drain(0)
    await with_worker.process.stop()
    without = await serve(worker=False, retention_days=1)
    assert {loop.get_name() for loop in without.process._loops} == tasks
    assert {"reaper", "reply order", "retention"} <= tasks
