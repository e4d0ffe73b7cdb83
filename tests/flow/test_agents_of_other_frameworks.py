"""Agents of other frameworks, in real processes with a model over HTTP: killed around calls and waits, and canceled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.test_agents_that_think import replaced, to_its_end
from tests.support.fake_chat_api import FakeChatApi, fake_chat_api
from tests.support.flow import Flow
from tests.support.pods import Nursery

APP = Path(__file__).parents[1] / "support" / "framework_app.py"
WARM_UP = "tests.support.framework_warm_up"
FRAMEWORKS = ["pydantic_ai", "openai_agents"]

PROGRAM = (
    {"text": ["One ", "moment."], "calls": [["look", {"what": "it"}], ["pay", {"amount": 3}]]},
    {"text": ["All ", "done."]},
)
ANSWER = "One moment.\n\nAll done."

# Where the worker dies, and how often it has paid in the end (a person says no to a repetition). The tests of each
# framework in tests/unit/agent cut the log at every event.
MOMENTS = [
    ("after.model.message:1", 1),
    ("after.park:1", 1),
    ("after.tool.started:2", 0),
    ("before.tool.finished:2", 1),
    ("after.tool.finished:2", 1),
]
UNKNOWN = ("after.tool.started:2", "before.tool.finished:2")
ON_POSTGRES = ("after.park:1", "before.tool.finished:2")


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with Nursery(tmp_path_factory.mktemp("nursery") / "log", WARM_UP) as nursery:
        yield nursery


@pytest.fixture
def model() -> Iterator[FakeChatApi]:
    with fake_chat_api() as server:
        yield server


def _with(flow: Flow, model: FakeChatApi) -> Flow:
    flow.app, flow.variables = APP, {"MODEL_URL": model.url}
    return flow


@pytest.mark.invariant(6)
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(("fault", "paid"), MOMENTS, ids=[moment for moment, _ in MOMENTS])
async def test_killed_at_any_event_nothing_is_repeated(
    sqlite_flow: Flow, model: FakeChatApi, framework: str, fault: str, paid: int
) -> None:
    await _killed_at(sqlite_flow, model, framework, fault, paid)


@pytest.mark.invariant(6)
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(("fault", "paid"), [moment for moment in MOMENTS if moment[0] in ON_POSTGRES], ids=str)
async def test_killed_at_any_event_on_postgres(
    flow: Flow, model: FakeChatApi, framework: str, fault: str, paid: int
) -> None:
    await _killed_at(flow, model, framework, fault, paid)


async def _killed_at(flow: Flow, model: FakeChatApi, framework: str, fault: str, paid: int) -> None:
    worker = await _with(flow, model).first(fault=fault)
    run_id = await flow.post(*PROGRAM, agent=framework)
    reader = flow.follow(run_id)
    kinds = await to_its_end(flow, run_id)
    await worker.end()
    await replaced(flow)
    await reader.end()

    assert len(flow.effects("pay")) == paid, "never above one"
    assert kinds.count("tool") == 1, "one question, asked once"
    assert kinds.count("unknown_outcome") == (fault in UNKNOWN)
    assert reader.text == reader.data[-2]["text"] == ANSWER
    assert reader.count("model.message") == 2, "what was said is not said again"
    assert json.loads((await flow.run(run_id))["usage"])["input_tokens"] == 10
    if not any(pod.said("worker.lease_lost") for pod in flow.pods):  # a busy machine may take the run from its worker
        assert model.asked == [0, 1], "a recorded request is not made again"


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_cancel_stops_a_call(sqlite_flow: Flow, model: FakeChatApi, framework: str) -> None:
    flow = _with(sqlite_flow, model)
    await flow.first()
    run_id = await flow.post({"calls": [["look", {"what": "it", "gate": "never"}]]}, agent=framework)
    reader = flow.follow(run_id)
    await flow.at_gate("never")
    assert await flow.cancel(run_id) == "canceled"
    await reader.end()
    assert reader.types[-2:] == ["run.canceled", "run.finished"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_run_begins_with_what_the_runs_before_it_said_and_did(
    sqlite_flow: Flow, model: FakeChatApi, framework: str
) -> None:
    flow = _with(sqlite_flow, model)
    await flow.first()
    thread = await flow.thread()
    first = await flow.post({"calls": [["look", {"what": "it"}]]}, {"text": ["Seen."]}, agent=framework, thread=thread)
    await flow.reached(first, "done")
    await flow.follow(await flow.post({"text": ["Yes."]}, agent=framework, thread=thread)).end()
    said = [message for message in model.requests[-1]["messages"] if message["role"] not in ("system", "developer")]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant", "user"]
    assert json.loads(said[2]["content"]) == {"seen": "it"}
