"""An agent that never awaits, or that raises what ends an event loop, ends its own run and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Kind, Pod

BLOCKED: dict[str, Any] = {"lease_seconds": 6, "max_blocked_seconds": 1, "stop_seconds": 1}


async def ended_as(flow: Flow, run_id: str, code: str) -> None:
    await flow.reached(run_id, "error", "done", "canceled")
    row = await flow.run(run_id)
    assert (row["status"], row["error_code"]) == ("error", code)


async def goes_on(flow: Flow, pod: Pod) -> None:
    """The same process still executes other runs."""
    await flow.reached(await flow.post(["tokens", 3]), "done")
    assert pod.alive


@pytest.mark.parametrize("how", ["loop", "sleep", "socket"])
async def test_an_agent_that_blocks_the_loop_is_interrupted_and_the_server_goes_on(any_flow: Flow, how: str) -> None:
    pod = await any_flow.first(**BLOCKED)
    run_id = await any_flow.post(["tokens", 2], ["hang", how])
    neighbour = await any_flow.post(["tokens", 20, 20])
    await ended_as(any_flow, run_id, "blocked_loop")
    await any_flow.reached(neighbour, "done")
    await goes_on(any_flow, pod)
    [line] = pod.logged("event_loop.blocked")
    assert line["agent"] == "player"
    assert line["run_id"] == run_id
    assert line["where"].startswith("flow_app.py:")
    assert not any_flow.notes.read("caught"), "`except Exception` must not keep the agent going"


@pytest.mark.parametrize("operation", ["hang-in-a-step", "hang-in-a-child"])
async def test_a_blocking_call_is_found_in_a_step_and_in_a_separate_task(any_flow: Flow, operation: str) -> None:
    pod = await any_flow.first(**BLOCKED)
    run_id = await any_flow.post([operation, "loop"])
    await ended_as(any_flow, run_id, "blocked_loop")
    await goes_on(any_flow, pod)


@pytest.mark.parametrize("how", ["catch", "native", "native-alone"])
async def test_a_run_that_cannot_be_interrupted_ends_its_process_until_it_is_poison(any_flow: Flow, how: str) -> None:
    kind: Kind = "serve" if any_flow.is_sqlite else "worker"
    if not any_flow.is_sqlite:
        await any_flow.start("api", max_attempts=2)
    async with any_flow.kept_alive(kind, 1, **BLOCKED, max_attempts=2):
        run_id = await any_flow.post(["tokens", 2], ["hang", how])
        await ended_as(any_flow, run_id, "poison")
        await any_flow.reached(await any_flow.post(["tokens", 3]), "done")
    assert len(any_flow.notes.read("hung")) == 2, "max_attempts"


async def test_a_signal_stops_a_process_whose_loop_was_blocked(any_flow: Flow) -> None:
    pod = await any_flow.first(**BLOCKED)
    run_id = await any_flow.post(["tokens", 2], ["hang", "sleep"])
    await eventually("the agent blocks the loop", lambda: any_flow.notes.read("hung"))
    pod.terminate()
    assert await pod.end() == 0
    await ended_as(any_flow, run_id, "blocked_loop")


@pytest.mark.req("S4.46")
async def test_a_node_that_blocks_the_loop_ends_when_its_time_is_up(any_flow: Flow) -> None:
    pod = await any_flow.first(lease_seconds=60, max_blocked_seconds=30)
    run_id = await any_flow.start_plan("blocking", "one")
    await ended_as(any_flow, run_id, "node_timeout")
    await goes_on(any_flow, pod)


async def test_a_process_that_was_frozen_blames_no_agent(flow: Flow) -> None:
    await flow.start("api")
    worker = await flow.start("worker", lease_seconds=20, max_blocked_seconds=1)
    run_id = await flow.post(["tokens", 200, 10])
    await eventually("the agent is at work", lambda: flow.notes.read("began"))
    await flow.freeze(worker)
    await asyncio.sleep(2.5)  # waits on purpose: longer than an agent may block the loop
    worker.thaw()
    await flow.reached(run_id, "done")
    assert not worker.said("agent.interrupted")


@pytest.mark.parametrize("how", ["exit", "interrupt", "other"])
@pytest.mark.parametrize("where", ["here", "child", "awaited", "group"])
async def test_any_error_of_an_agent_ends_its_run_only(sqlite_flow: Flow, how: str, where: str) -> None:
    pod = await sqlite_flow.first()
    run_id = await sqlite_flow.post(["tokens", 2], ["leave", how, where])
    await ended_as(sqlite_flow, run_id, "agent_error")
    await goes_on(sqlite_flow, pod)


@pytest.mark.parametrize("how", ["exit", "interrupt"])
async def test_a_step_that_exits_has_failed(sqlite_flow: Flow, how: str) -> None:
    pod = await sqlite_flow.first()
    run_id = await sqlite_flow.post(["leave", how, "step"])
    await ended_as(sqlite_flow, run_id, "step_failed")
    await goes_on(sqlite_flow, pod)


async def test_a_callback_that_exits_does_not_stop_the_server(sqlite_flow: Flow) -> None:
    pod = await sqlite_flow.first()
    run_id = await sqlite_flow.post(["leave", "exit", "callback"])
    await sqlite_flow.reached(run_id, "done")
    await goes_on(sqlite_flow, pod)
    pod.terminate()
    assert await pod.end() == 0
