"""SIGTERM: the pod claims no more runs, lets short runs end, returns the rest to the queue without counting an attempt,
cuts its streams so that clients reconnect to another pod, and exits within its grace time."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow

WORDS = "".join(f"t{n} " for n in range(60))


@pytest.mark.req("S0.36", "S0.38")
async def test_in_the_middle_of_a_stream_another_pod_goes_on(flow: Flow) -> None:
    leaving = await flow.start("serve", drain_seconds=0.2)
    run_id = await flow.post(["step", "s"], ["tokens", 60, 10], ["wait", "end"])
    reader = flow.follow(run_id)
    await reader.tokens(4)
    staying = await flow.start("serve")
    flow.notes.open_gate("end", staying.pid)
    began = time.monotonic()
    leaving.terminate()
    assert await leaving.end() == 0
    assert time.monotonic() - began < 5, "drain 0.2 s, stop 0.5 s, and something for a slow machine"
    await reader.end()
    assert reader.text == WORDS
    resumed = [data["why"] for kind, data in zip(reader.types, reader.data, strict=True) if kind == "run.resumed"]
    assert resumed == ["drain"]
    assert (await flow.run(run_id))["attempts"] <= 1, "a drain counts no attempt"
    assert flow.effects("step") == [f"{run_id}:s"]
    assert staying.said("run.reaped") == 0, "it was handed over, not found dead"


async def test_a_short_run_may_end_and_is_followed_to_its_end(flow: Flow) -> None:
    """A draining pod still answers: its followers see the run end there."""
    leaving = await flow.start("serve", drain_seconds=20)
    run_id = await flow.post(["tokens", 5], ["wait", "end"], ["tokens", 5])
    reader = flow.follow(run_id, leaving)
    await flow.at_gate("end")
    leaving.terminate()
    await eventually("it drains", lambda: leaving.said("worker.drain_started"))
    answer = await flow.request("GET", "/health/ready", leaving)
    assert answer.status_code == 503
    assert await flow.status(run_id, leaving) == "running"
    flow.notes.open_gate("end")
    await reader.end()
    assert reader.connections == 1, "no reader had to reconnect"
    assert await leaving.end() == 0
    assert [event["type"] for event in await flow.log(run_id)].count("run.resumed") == 0


async def test_a_second_signal_does_not_wait_for_runs(flow: Flow) -> None:
    leaving = await flow.start("serve", drain_seconds=50, stop_seconds=10)
    run_id = await flow.post(["tokens", 3], ["wait", "never"])
    await flow.at_gate("never", leaving)
    leaving.terminate()
    await eventually("it drains", lambda: leaving.said("worker.drain_started"))
    leaving.terminate()
    assert await leaving.end(10) == 0
    row = await flow.run(run_id)
    assert (row["status"], row["attempts"]) == ("queued", 0), "released, with the attempt refunded"
    flow.notes.open_gate("never")
    await flow.start("serve")
    await flow.reached(run_id, "done")


async def test_an_agent_that_ignores_it_does_not_hold_up_the_pod(flow: Flow) -> None:
    leaving = await flow.start("serve", drain_seconds=0.1, stop_seconds=0.3)
    run_id = await flow.post(["tokens", 2], ["ignore", "never"], ["tokens", 2])
    await flow.at_gate("never", leaving)
    staying = await flow.start("serve")
    leaving.terminate()
    await flow.at_gate("never", staying)  # it was handed over
    flow.notes.open_gate("never", staying.pid)
    await flow.reached(run_id, "done")
    await leaving.end(10)


async def test_a_claim_that_is_on_its_way_is_not_lost(flow: Flow) -> None:
    """The signal comes after the claim's commit and before its answer."""
    await flow.start("api")
    leaving = await flow.start("worker", fault="after.claim:1:hang")
    run_id = await flow.post(["tokens", 2])
    await flow.struck("after.claim")
    leaving.terminate()
    await eventually("it stops", lambda: leaving.said("process.stop_requested"))
    flow.notes.open_gate("after.claim")
    assert await leaving.end(10) == 0
    await flow.start("worker")
    await flow.reached(run_id, "done")


async def test_a_request_that_is_on_its_way_is_not_lost(flow: Flow) -> None:
    """The signal comes after the run was accepted (and claimed with it) and before the answer."""
    leaving = await flow.start("serve", fault="after.accept:1:hang")
    thread = await flow.thread()
    posting = asyncio.create_task(flow.post(["tokens", 2], thread=thread))
    await flow.struck("after.accept")
    leaving.terminate()
    await eventually("it stops", lambda: leaving.said("process.stop_requested"))
    flow.notes.open_gate("after.accept")
    assert await leaving.end(10) == 0
    await flow.start("serve")
    await flow.reached(await posting, "done")


async def test_on_sqlite_the_next_start_goes_on(sqlite_flow: Flow) -> None:
    flow = sqlite_flow
    leaving = await flow.start("serve")
    runs = [await flow.post(["tokens", 60, 20]) for _ in range(3)]
    readers = [flow.follow(run_id) for run_id in runs]
    await asyncio.gather(*[reader.tokens(3) for reader in readers])
    leaving.terminate()
    assert await leaving.end() == 0
    await flow.start("serve")
    await asyncio.gather(*[reader.end() for reader in readers])
    assert {reader.text for reader in readers} == {WORDS}
