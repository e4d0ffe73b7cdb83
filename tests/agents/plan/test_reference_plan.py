"""The reference plan on its fake device: five pure nodes, and the events of a run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import runyard.demo
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import load
from runyard.agents.declared.nodes import Node
from runyard.agents.durable.parking import Parking
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.kinds.plan.runner import run_plan
from tests.agents.fake_execution import FakeExecution

EXAMPLE = Path(__file__).parents[3] / "examples" / "device_plan.py"
NODES = ["EnsureDevice", "Warmup", "OpenApp", "Ping", "Teardown"]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    real = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds, result=None: real(0, result))


@pytest.fixture(params=["demo", "example"])
def device(request: pytest.FixtureRequest) -> Agent:
    return runyard.demo.device if request.param == "demo" else load(EXAMPLE).agents["device"]


@pytest.mark.req("S4.46")
def test_the_plan_has_the_five_nodes_in_order_with_their_timeouts(device: Agent) -> None:
    assert [node.name for node in device.plan] == NODES
    assert [node.timeout for node in device.plan] == [10, 5, 10, 10, 10]


@pytest.mark.req("S4.39", "S4.46", "S4.47")
async def test_a_run_leaves_eleven_events_between_the_start_and_the_end(device: Agent) -> None:
    """The engine adds `run.queued` before and `run.finished` after them: 13 in all."""
    execution = FakeExecution(thread_id=None)
    await run_plan(device, execution)
    nodes = [[("step.started", name), ("step.finished", name)] for name in NODES]
    expected: list[tuple[str, str | None]] = [pair for node in nodes for pair in node]
    expected.insert(1, ("trace", "ensureDevice.check"))
    assert [(event.type, event.name or event.fn) for event in execution.new_events] == expected


async def called(node: Node, results: dict[str, Any]) -> tuple[Any, list[str]]:
    execution = FakeExecution()
    result = await node.fn(NodeContext(node.name, execution, Parking(), results))
    return result, [event.fn or event.type for event in execution.new_events]


@pytest.mark.req("S4.47", "S4.46", "S4.49")
async def test_a_node_returns_the_same_for_the_same_results_and_leaves_its_marks(device: Agent) -> None:
    results: dict[str, Any] = {}
    for node in device.plan:
        first, marks = await called(node, results)
        assert await called(node, results) == (first, marks), f"{node.name} is not pure"
        assert marks == (["ensureDevice.check"] if node.name == "EnsureDevice" else [])
        results[node.name] = first
    assert results["EnsureDevice"]["device"].startswith("fake-"), "its name shows that it is not a real device"
