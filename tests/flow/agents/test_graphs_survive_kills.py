"""A graph of LangGraph whose worker is killed at every commit continues from its last checkpoint: its log says the same
as without the kill, its tool is called once, and each of its questions is asked once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from tests.support.apps.graph_agents import ANSWERS, TRIP
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import ROOT, Nursery

APP = str(ROOT / "tests" / "support" / "apps" / "graph_app.py")
BY_PROMPT = {"question": lambda asked: ANSWERS[asked["prompt"]]}
NODES = ["agent#1", "tools#1", "agent#2", "row#1", "city#1", "tell#1", "check#1", "check/think#1", "check/ask#1"]
# Points of one run. `agents/frameworks/test_langgraph_after_a_crash.py` has every event of it.
POINTS = [
    *[f"after.step.finished:{n}" for n in (4, 12, 28)],
    *[f"after.wait.requested:{n}" for n in (2, 4)],
    "after.model.token:2",
    "after.tool.finished:1",
    "before.done:1",
]


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Pods that find LangGraph imported."""
    with Nursery(
        tmp_path_factory.mktemp("nursery") / "log", "tests.support.apps.graph_agents langgraph.pregel"
    ) as nursery:
        yield nursery


def _by_turns(points: list[str]) -> list[ParameterSet]:
    """Every second point on Postgres, the others on SQLite."""
    made = [pytest.param("sqlite", point) for point in points[::2]]
    return made + [pytest.param("postgres", point, marks=pytest.mark.postgres) for point in points[1::2]]


@pytest.mark.parametrize(("any_flow", "point"), _by_turns(POINTS), indirect=["any_flow"])
async def test_a_killed_worker_repeats_no_recorded_work(any_flow: Flow, point: str) -> None:
    flow = any_flow
    await flow.first(fault=point, app=APP)
    run_id = await flow.post(agent="trip")
    async with flow.answering(BY_PROMPT):
        await flow.struck(point.rpartition(":")[0])
        await flow.next(app=APP)
        await flow.reached(run_id, "done")
    await check_log(flow, run_id)
    assert len(flow.effects("pay")) == 1


async def test_a_call_that_may_have_happened_is_not_repeated_silently(sqlite_flow: Flow) -> None:
    flow = sqlite_flow
    await flow.first(fault="before.tool.finished:1", app=APP)
    run_id = await flow.post(agent="trip")
    await flow.struck("before.tool.finished")
    await flow.next(app=APP)
    assert (await flow.decide(await flow.approval(run_id, "unknown_outcome"), "reject")).status_code == 200
    async with flow.answering(BY_PROMPT):
        await flow.reached(run_id, "done")
    await check_log(flow, run_id)
    assert len(flow.effects("pay")) == 1


async def test_a_stopped_pod_hands_its_graph_over(sqlite_flow: Flow) -> None:
    flow = sqlite_flow
    pod = await flow.first(app=APP)
    run_id = await flow.post(agent="gate")
    await flow.at_gate("node")
    pod.terminate()
    assert await pod.end() == 0
    following = await flow.next(app=APP)
    await flow.at_gate("node", following)
    flow.notes.open_gate("node")
    await flow.reached(run_id, "done")
    assert [row["type"] for row in await flow.log(run_id)].count("step.started") == 1


async def check_log(flow: Flow, run_id: str) -> None:
    """The log has one step for each node, one wait for each question, one tool call, and the whole text."""
    log = [(row["type"], json.loads(row["data"])) for row in await flow.log(run_id)]
    assert [data["text"] for kind, data in log if kind == "run.output"] == [TRIP]
    asked = [data["prompt"] for kind, data in log if kind == "wait.requested"]
    assert sorted(asked) == sorted(ANSWERS)
    finished = Counter(data["step"] for kind, data in log if kind == "step.finished")
    assert set(finished.values()) == {1}
    assert sorted(step for step in finished if "#" in step and ":" not in step.partition("#")[0]) == sorted(NODES)
    assert sorted(data["step"] for kind, data in log if kind == "step.started") == sorted(NODES)
