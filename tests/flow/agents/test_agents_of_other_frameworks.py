"""The same agent in LangGraph, pydantic-ai and the OpenAI Agents SDK, in real processes with a model over HTTP.

Its worker gets kill -9 after every commit of its log, and before the results of its tools. The log then says the same
as without a kill, and each tool with effects was called once: also one of an MCP server over HTTP, which the agent of
pydantic-ai has. The agents of pydantic-ai and the OpenAI Agents SDK have a tool that the client calls, and the latter a
handoff. On Postgres the lease of a killed worker expires at once. Also: a cancel, and the history of a thread.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from tests.support.checker.wait_invariants import Row
from tests.support.eventually import eventually
from tests.support.fakes.fake_chat_api import FakeChatApi, fake_chat_api
from tests.support.fakes.fake_mcp_server import FakeMcpServer, fake_mcp_server
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import ROOT, Nursery, Pod

APP = ROOT / "tests" / "support" / "apps" / "framework_app.py"
WARM_UP = "tests.support.apps.framework_warm_up"
ANSWER = "One moment.\n\nAll done."
STARS = 5
FRAMEWORKS = ["langgraph", "pydantic_ai", "openai_agents"]
ANSWERS = {"question": STARS, "client_tool": "Oslo"}
# Turns between the first calls and the answer: a tool of the client, and a handoff.
MORE_TURNS: dict[str, list[Any]] = {
    "openai_agents": [{"calls": [["locate", {}]]}, {"calls": [["transfer_to_closer", {}]]}],
}


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


class Person:
    """Decides and answers. Before a call is repeated, the person looks whether it has happened."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    async def answer(self, run_id: str, worked: Mapping[str, int]) -> None:
        """Answer all waits. `worked` says how often each tool has worked."""
        pending = "select id, run_id, kind, name, state from waits where state = 'pending'"
        for row in await self._flow.database.rows(pending):
            if row["run_id"] != run_id:
                continue
            is_repetition = row["kind"] == "unknown_outcome" and worked[row["name"]] > 0
            with suppress(httpx2.TransportError, IndexError):  # on SQLite the server that is asked may die of it
                if row["kind"] in ANSWERS:
                    await self._flow.answer(row["id"], ANSWERS[row["kind"]])
                else:
                    await self._flow.decide(row["id"], "reject" if is_repetition else "approve")


class Scenes:
    """Runs of one agent, one after another, whose workers are killed. The worker that continues one run has the fault
    for the next one."""

    def __init__(self, flow: Flow, model: FakeChatApi, tools: FakeMcpServer, agent: str) -> None:
        self._flow = flow
        self._model = model
        self._tools = tools
        self._agent = agent
        self._person = Person(flow)
        self._amount = 0
        self._unrecorded = iter(f"before.tool.finished:{n + 1}" for n in range(len(self._calls())))
        self._length = 0  # of a log without a kill
        self.fault = ""

    async def undisturbed(self) -> Any:
        """Play a run without a kill, and return its facts. The next worker has a fault."""
        await self._flow.first()
        run_id, _ = await self.play()
        self._length = len(await self._flow.log(run_id))
        found = await self.facts(run_id)
        await self._flow.pods[-1].kill()
        self.fault = "after.seq:1"
        await self._flow.next(self.fault)
        return found

    async def play(self) -> tuple[str, int]:
        """Play a run to its end. Return its id, and the length of its log at the kill."""
        flow, worker, is_killed = self._flow, self._flow.pods[-1], bool(self.fault)
        self._amount += 1
        more = MORE_TURNS.get(self._agent, [])
        program = ({"text": ["One ", "moment."], "calls": self._calls()}, *more, {"text": ["All ", "done."]})
        posting = asyncio.create_task(flow.post(*program, agent=self._agent))
        cut: list[Row] = []
        asked = 0

        async def ended() -> bool:
            nonlocal cut, asked
            runs = await flow.database.rows("select id, status from runs order by created_at desc, id desc limit 1")
            if not runs:
                return False
            if runs[0]["status"] == "done" and posting.done() and worker.alive:
                await self._kill_at_the_end(worker, posting.result())
            if not worker.alive and not cut:
                cut, asked = await flow.log(runs[0]["id"]), len(self._model.asked)
                flow.notes.write("spared", runs[0]["id"])
                self._choose_next(cut)
                if not flow.is_sqlite:
                    await flow.database.change(f"update workers set lease_until = 0 where id = '{worker.worker_id}'")
                await flow.next(self.fault)
            if runs[0]["status"] == "waiting" and posting.done():
                await self._person.answer(runs[0]["id"], self._worked())
            return posting.done() and runs[0]["status"] == "done" and bool(cut) == is_killed

        await eventually(f"run {self._amount} of {self._agent} is done", ended, every=0.05)
        once = {call[0] for call in self._calls()} & {"pay", "charge"}
        assert {tool: n for tool, n in self._worked().items() if n} == dict.fromkeys(once, 1), f"killed at {len(cut)}"
        turns = recorded_turns(cut)
        assert not is_killed or all(turn >= turns for turn in self._model.asked[asked:]), (
            "a recorded turn is not repeated"
        )
        return posting.result(), len(cut)

    def _calls(self) -> list[list[Any]]:
        """The calls that the model requests. The agent of pydantic-ai has two more tools."""
        here = [["look", {"what": "it"}], ["pay", {"amount": self._amount}]]
        elsewhere = [["locate", {}], ["charge", {"amount": self._amount}]]
        return [*here, *elsewhere] if self._agent == "pydantic_ai" else here

    def _worked(self) -> dict[str, int]:
        """How often each tool with effects has worked in this run."""
        amount = str(self._amount)
        return {"pay": self._flow.effects("pay").count(amount), "charge": self._tools.charged.count(amount)}

    async def _kill_at_the_end(self, worker: Pod, run_id: str) -> None:
        """Kill the worker of a run that has ended before its log was as long as its fault says."""
        name, _, length = self.fault.partition(":")
        if name == "after.seq" and len(await self._flow.log(run_id)) < int(length):
            self._flow.evidence.expected_faults[name] -= 1
            await worker.kill()

    def _choose_next(self, cut: list[Row]) -> None:
        is_by_length = self.fault.startswith("after.seq") and cut[-1]["type"] != "run.finished"
        after = min(len(cut) + 1, self._length)
        self.fault = f"after.seq:{after}" if is_by_length else next(self._unrecorded, "")

    async def facts(self, run_id: str) -> Any:
        """The events of the log, without those that a kill adds: withdrawn text, other attempts, the question about a
        call."""
        log = [(row["type"], json.loads(row["data"])) for row in await self._flow.log(run_id)]
        state = (await self._flow.request("GET", f"/api/runs/{run_id}/state")).json()
        asked = sorted((wait["kind"], wait["state"]) for wait in state["waits"].values())
        output = next(data for kind, data in log if kind == "run.output")
        return {
            "text": (state["text"], output["text"], output.get("outputs")),
            "messages": [data["message"]["content"] for kind, data in log if kind == "model.message"],
            "steps": sorted(
                data["step"] for kind, data in log if kind == "step.finished" and data["name"] != "checkpoint"
            ),
            "tools": sorted(data["tool"] for kind, data in log if kind == "tool.finished"),
            "asked": [each for each in asked if each[0] != "unknown_outcome"],
            "usage": json.loads((await self._flow.run(run_id))["usage"]),
            "end": log[-1],
        }


def recorded_turns(log: list[Row]) -> int:
    """How many answers of the model a log has: messages, or finished steps of the node that asks it."""
    found = [(row["type"], json.loads(row["data"])) for row in log]
    nodes = [data for kind, data in found if kind == "step.finished" and data["name"] == "agent"]
    return len(nodes) + [kind for kind, _ in found].count("model.message")


@pytest.mark.invariant(6)
@pytest.mark.timeout(1200)  # some forty processes, one after another
@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_killed_at_every_event_the_log_says_the_same_and_a_tool_works_once(
    any_flow: Flow, model: FakeChatApi, framework: str
) -> None:
    flow = _with(any_flow, model)
    with fake_mcp_server() as tools:
        flow.variables["MCP_URL"] = tools.url
        scenes = Scenes(flow, model, tools, framework)
        undisturbed = await scenes.undisturbed()
        assert undisturbed["text"][:2] == (ANSWER, ANSWER)
        assert undisturbed["asked"][-1] == ("tool", "approved")
        if framework == "openai_agents":
            assert undisturbed["asked"][0] == ("client_tool", "answered")
            assert any(step.startswith("handoff") for step in undisturbed["steps"])
        while scenes.fault:
            run_id, length = await scenes.play()
            assert await scenes.facts(run_id) == undisturbed, f"killed after {length} events"


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
    if framework == "langgraph":  # it gets the messages of earlier runs as text
        assert [message["role"] for message in said] == ["user", "assistant", "user"]
        assert said[1]["content"] == "Seen."
    else:
        assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant", "user"]
        assert json.loads(said[2]["content"]) == {"seen": "it"}
