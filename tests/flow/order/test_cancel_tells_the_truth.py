"""Cancel in every state, once and by ten callers at once on two pods, also racing the run's own end: one end, and every
caller gets that end."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from runyard.faces.threads.routes import CANCEL_PATIENCE
from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

pytestmark = pytest.mark.invariant(10)

CALLERS = [1, 10]


async def canceled_by(flow: Flow, run_id: str, callers: int) -> set[str]:
    """The responses to concurrent cancel requests, spread over all pods."""

    async def status_after_cancel(pod: Pod) -> str:
        """A caller asks again only if the run had not ended after all the time that the route waits for it."""
        began = time.monotonic()
        status = await flow.cancel(run_id, pod)
        is_slow = time.monotonic() - began >= CANCEL_PATIENCE
        return await status_after_cancel(pod) if status == "running" and is_slow else status

    return set(await asyncio.gather(*(status_after_cancel(flow.apis[n % len(flow.apis)]) for n in range(callers))))


async def ends(flow: Flow, run_id: str) -> tuple[str, list[str]]:
    types = [event["type"] for event in await flow.log(run_id)]
    return (await flow.run(run_id))["status"], types


@pytest.mark.req("S0.6", "S0.27", "S0.28")
@pytest.mark.parametrize("callers", CALLERS)
async def test_a_queued_run_never_starts(flow: Flow, callers: int) -> None:
    await flow.start("api")
    await flow.start("api")
    thread = await flow.thread()
    first = await flow.post(["tokens", 1], thread=thread)
    middle = await flow.post(["tokens", 1], thread=thread)
    last = await flow.post(["tokens", 1], thread=thread)
    assert await canceled_by(flow, middle, callers) == {"canceled"}
    await flow.start("worker")
    await flow.reached(last, "done")
    await flow.reached(first, "done")
    assert await ends(flow, middle) == ("canceled", ["run.queued", "run.canceled", "run.finished"])


@pytest.mark.req("S0.6", "S0.26", "S0.27", "S0.28")
@pytest.mark.parametrize("callers", CALLERS)
@pytest.mark.parametrize("where", ["between tokens", "inside a tool", "in a silent wait"])
async def test_a_running_run_stops_at_once(flow: Flow, callers: int, where: str) -> None:
    await flow.start("api")
    await flow.start("serve")
    programs: dict[str, list[list[Any]]] = {
        "between tokens": [["tokens", 5000, 2]],
        "inside a tool": [["tokens", 3], ["call", "look", "never"]],
        "in a silent wait": [["tokens", 3], ["wait", "never"]],
    }
    run_id = await flow.post(*programs[where])
    reader = flow.follow(run_id)
    await reader.tokens(3)
    if where != "between tokens":
        await flow.at_gate("never")
    assert await canceled_by(flow, run_id, callers) == {"canceled"}
    await reader.end()
    assert reader.types[-2:] == ["run.canceled", "run.finished"]
    assert reader.count("run.canceled") == 1
    assert "run.output" not in reader.types
    assert any(words[0] == run_id for words in flow.notes.read("stopped")), "the agent itself was stopped"


@pytest.mark.parametrize("callers", CALLERS)
async def test_a_waiting_run_ends_and_its_late_approval_is_refused(flow: Flow, callers: int) -> None:
    await flow.start("serve")
    await flow.start("api")
    thread = await flow.thread()
    run_id = await flow.post(["call", "send"], thread=thread)
    after = await flow.post(["tokens", 1], thread=thread)
    approval = await flow.approval(run_id, "tool")
    assert await canceled_by(flow, run_id, callers) == {"canceled"}
    assert (await ends(flow, run_id))[0] == "canceled"
    late = await flow.decide(approval, "approve")
    assert (late.status_code, late.json()["code"]) == (409, "run_ended")
    await flow.reached(after, "done")
    assert flow.effects("send") == []


@pytest.mark.parametrize("callers", CALLERS)
async def test_a_finished_run_stays_what_it_is(flow: Flow, callers: int) -> None:
    await flow.start("serve")
    await flow.start("api")
    run_id = await flow.post(["tokens", 1])
    await flow.reached(run_id, "done")
    before = await ends(flow, run_id)
    assert await canceled_by(flow, run_id, callers) == {"done"}
    assert await ends(flow, run_id) == before


@pytest.mark.req("S0.28", "S0.30")
async def test_racing_the_end_there_is_one_end_and_all_are_told_the_same(flow: Flow) -> None:
    await flow.start("serve")
    await flow.start("api")

    async def race(delay: int) -> str:
        """The run ends by itself about when ten callers want it canceled: earlier or later, a little more each time."""
        run_id = await flow.post(["tokens", delay, 2])
        reader = flow.follow(run_id)
        await reader.until("that it runs", lambda seen: len(seen.types) > 1)
        told = await canceled_by(flow, run_id, 10)
        await reader.end()
        status, types = await ends(flow, run_id)
        assert told == {status}
        assert types.count("run.finished") == 1
        assert ("run.output" in types) == (status == "done")
        assert ("run.canceled" in types) == (status == "canceled")
        return status

    ended = [await race(delay) for delay in (1, 2, 3, 4, 6, 8, 1, 2, 3, 4)]
    assert set(ended) <= {"done", "canceled"}


@pytest.mark.req("S0.26")
async def test_an_agent_that_ignores_it_is_ended_without_its_help(flow: Flow) -> None:
    await flow.start("api")
    worker = await flow.start("worker", stop_seconds=0.3, cancel_seconds=10)
    run_id = await flow.post(["tokens", 2], ["ignore", "never"], ["tokens", 5])
    await flow.at_gate("never")
    await flow.cancel(run_id)
    await flow.reached(run_id, "canceled")
    await eventually("the agent has ignored it", lambda: flow.notes.read("ignored"))
    flow.notes.open_gate("never")  # now it continues, and must not be heard any more
    after = await flow.post(["tokens", 2])
    await flow.reached(after, "done")
    assert worker.alive
    assert (await ends(flow, run_id))[1].count("model.token") == 2


async def test_a_worker_that_ignores_it_loses_the_run(flow: Flow) -> None:
    """Past the deadline any other process ends the run, and the old owner's writes are refused."""
    await flow.start("api")
    blocked = await flow.start("worker", lease_seconds=30, cancel_seconds=0.3)
    run_id = await flow.post(["tokens", 2], ["block", "block"], ["tokens", 5], ["call", "pay"])
    await flow.at_gate("block", blocked)
    await flow.start("worker", cancel_seconds=0.3)
    await flow.request("POST", f"/api/runs/{run_id}/cancel")
    await flow.reached(run_id, "canceled")
    flow.notes.open_gate("block")
    await eventually("the old owner is refused", lambda: blocked.said("run.ownership_lost"))
    assert flow.effects("pay") == []
    again = await flow.post(["tokens", 2])
    await flow.reached(again, "done")
