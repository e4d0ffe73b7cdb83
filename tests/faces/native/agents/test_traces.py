"""Every run of every kind of agent is a trace, however it ends: run, steps, tools; no content."""

from typing import Any

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent, plan, scripted
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.telemetry.spans import Recorder, Span
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

SECRET = "a secret"


@runyard.tool(effects="none")
async def look(what: str) -> str:
    return SECRET


@agent(tools=[look])
async def walker(ctx: Context) -> str:
    await ctx.step("think it over", len, SECRET)
    return str(await ctx.call(look, what=SECRET))


@agent
async def crashes(ctx: Context) -> str:
    raise ValueError(SECRET)


@agent
async def asks(ctx: Context) -> str:
    return str(await ctx.request_approval(SECRET))


async def node(ctx: NodeContext) -> dict[str, str]:
    return {"found": SECRET}


TURNS: list[dict[str, Any]] = [{"calls": [{"tool": "look", "input": {"what": SECRET}}]}, {"text": SECRET}]
AGENTS = [
    walker,
    crashes,
    asks,
    plan("two", [Node("One", node), Node("Two", node)]),
    Agent("thinker", model="scripted", turns=TURNS, tools=[look]),
    scripted("player", [{"tool": "look", "output": SECRET}, {"token": SECRET}]),
]
RUN, STEP, TOOL = ("agent.run", None), ("agent.step", "agent.run"), ("agent.tool", "agent.run")


async def traced(server: Server, run_id: str, executions: int = 1) -> list[Span]:
    """The spans of a run, once it was left so often: that is a moment after its last event."""
    recorder = server.process.tracer.exporter
    assert isinstance(recorder, Recorder)

    def left() -> list[Span]:
        found = [span for span in recorder.spans if span.trace == run_id]
        return found if sum(span.name == "agent.run" for span in found) >= executions else []

    spans: list[Span] = await eventually("the run is traced", left)
    assert SECRET not in str([span.attributes for span in spans]) + str(recorder.counts)
    return spans


@pytest.mark.req("S3.35", "S3.36")
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("walker", [RUN, STEP, TOOL]),
        ("two", [RUN, STEP, STEP]),
        ("thinker", [RUN, STEP, ("agent.tool", "agent.step"), STEP]),
        ("player", [RUN, TOOL]),
        ("crashes", [RUN]),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_run_of_every_kind_is_a_trace(serve: Serve, name: str, shape: list[tuple[str, str | None]]) -> None:
    server = await serve(App({each.name: each for each in AGENTS}, {}, "walker"))
    run_id = await server.post(name, SECRET)
    await server.ended(run_id)
    spans = await traced(server, run_id)
    assert [(span.name, span.parent.name if span.parent else None) for span in spans] == shape
    outcome = "agent_error" if name == "crashes" else "ok"
    assert (spans[0].outcome, spans[0].attributes["agent"], spans[0].attributes["attempt"]) == (outcome, name, 1)
    assert all(span.ended is not None and span.outcome == outcome for span in spans)


@pytest.mark.req("S3.35")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_run_that_waits_for_a_person_is_two_executions_in_one_trace(serve: Serve) -> None:
    server = await serve(App({each.name: each for each in AGENTS}, {}, "walker"))
    run_id = await server.post("asks", SECRET)
    approval = await server.waiting(run_id)
    await server.http.post(f"/api/approvals/{approval}", json={"decision": "approve"})
    await server.ended(run_id)
    spans = await traced(server, run_id, executions=2)
    assert [(span.outcome, span.attributes["attempt"]) for span in spans] == [("waiting", 1), ("ok", 2)]
