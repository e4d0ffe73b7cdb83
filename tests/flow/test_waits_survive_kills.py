"""A run waits for a question, a client's tool, two children, a timer and an event, and its worker is killed at every
point of it: the log says the same as without, no child is started twice, and no answer is lost."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.support.flow import Flow

PROGRAM: list[list[Any]] = [
    ["ask", "Which row?"],
    ["client"],
    ["children", [["step", "s"], ["tokens", 2]], [["sleep", 0.1], ["tokens", 1]]],
    ["sleep", 0.2],
    ["event", "order.paid", "A-17"],
]
TEXT = "[row 7][Kyoto][t0 t1 ][t0 ][card]"
ANSWERS = {"question": 7, "client_tool": "Kyoto"}
POINTS = [
    *[f"{when}.wait.requested:{n}" for n in (1, 2, 3, 5, 6, 7) for when in ("before", "after")],
    *[f"{when}.park:{n}" for n in (1, 2) for when in ("before", "after")],
    *[f"after.park:{n}" for n in (3, 4, 5)],
    *[f"after.run.resumed:{n}" for n in (1, 3, 4, 5)],
    *[f"after.model.token:{n}" for n in (1, 5, 8)],
    "after.tool.started:1",
    "before.step.finished:1",
    "after.step.finished:1",
    *[f"{when}.tool.finished:1" for when in ("before", "after")],
    *[f"{when}.start_of_child:1" for when in ("before", "after")],
    *[f"{when}.end_of_child:{n}" for n in (1, 2) for when in ("before", "after")],
    "after.run.resumed:2",
    "before.done:1",
    "after.done:1",
    "after.done:3",
]
AFTER_THE_EVENT = ("done:3", "resumed:4", "resumed:5", "token:8", "park:5")  # or perhaps after it
TAKEN = ["before.answer:1", "after.answer:1", "before.answer:2", "after.answer:2", "after.expire:1"]
STORE_METHODS = {"start_of_child": "accept", "end_of_child": "answer"}
BEFORE = {
    "start_of_child": 1,
    "end_of_child": 2,
}  # on SQLite one process also takes the client's requests


def fault_of(point: str, flow: Flow) -> str:
    when, _, rest = point.partition(".")
    name, _, number = rest.rpartition(":")
    if flow.is_sqlite:
        number = str(int(number) + BEFORE.get(name, 0))
    return f"{when}.{STORE_METHODS.get(name, name)}:{number}"


async def _play(flow: Flow, fault: str = "") -> str:
    await flow.first(fault=fault)
    is_late = fault.endswith(AFTER_THE_EVENT)
    if is_late:
        await _deliver(flow)
    run_id = await flow.post(*PROGRAM)
    async with flow.answering(ANSWERS):
        if fault:
            await flow.struck(fault.rpartition(":")[0])
            await flow.next()
        if not is_late:
            await flow.open_wait(run_id, "event")
            await _deliver(flow)
        await flow.reached(run_id, "done")
    await flow.settled()
    return run_id


async def _deliver(flow: Flow) -> None:
    assert (await flow.deliver("e1", "order.paid", "A-17", "card")).status_code == 202


async def _facts(flow: Flow, run_id: str) -> list[tuple[str, str]]:
    """What the log says, without what a crash may add: who works on it, and how often."""
    facts = []
    for event in await flow.log(run_id):
        data = json.loads(event["data"])
        if event["type"] == "wait.requested":
            facts.append((data["kind"], data["call_id"]))
        elif event["type"] in ("tool.finished", "run.output", "run.finished"):
            facts.append((event["type"], str(data.get("text", data.get("output", data.get("status"))))))
    return sorted(facts)


async def test_without_a_kill(any_flow: Flow) -> None:
    run_id = await _play(any_flow)
    assert ("run.output", TEXT) in await _facts(any_flow, run_id)
    assert Counter(kind for kind, _ in await _facts(any_flow, run_id))["child"] == 2


@pytest.mark.invariant(1)
@pytest.mark.parametrize("point", POINTS)
async def test_with_a_kill(any_flow: Flow, point: str) -> None:
    flow = any_flow
    run_id = await _play(flow, fault_of(point, flow))
    await _check_facts(flow, run_id)


@pytest.mark.parametrize("point", TAKEN)
async def test_with_a_kill_of_the_server_that_takes_the_answers(any_flow: Flow, point: str) -> None:
    """The answer of a person, of a client and of the time: its commit is the last thing that the process does."""
    flow = any_flow
    if flow.is_sqlite:
        await flow.start("serve", fault=point)
    else:
        await flow.start("api", fault=point)
        await flow.start("worker", reap_seconds=0.2 if "answer" in point else 3600)  # the timer is for the other one
    await _deliver(flow)
    run_id = await flow.post(*PROGRAM)
    async with flow.answering(ANSWERS):
        await flow.struck(point.rpartition(":")[0])
        await flow.start("serve" if flow.is_sqlite else "api")
        await flow.reached(run_id, "done")
    await flow.settled()
    await _check_facts(flow, run_id)


async def _check_facts(flow: Flow, run_id: str) -> None:
    assert await _facts(flow, run_id) == [
        ("child", "run player#1"),
        ("child", "run player#2"),
        ("client_tool", "locate#1"),
        ("event", "order.paid#1"),
        ("question", "ask#1"),
        ("run.finished", "done"),
        ("run.output", TEXT),
        ("timer", "sleep#1"),
        ("tool.finished", "Kyoto"),
    ]
    runs = await flow.database.rows("select id, parent_run_id, status from runs")
    children = [row for row in runs if row["parent_run_id"] == run_id]
    assert [row["status"] for row in children] == ["done", "done"], "no child is started twice"
    assert len(set(flow.effects("step"))) == 1, "only one child has done the step"
