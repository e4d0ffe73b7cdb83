"""A traceback of an agent's own code is kept with its run: the native face shows it, no other face and no log does."""

import logging
from pathlib import Path
from typing import Any

import pytest
import structlog

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent, plan
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.tools.tool import tool
from runyard.errors import StepFailed, ToolError, ToolFailed
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import ENDLESS, Operation, app_of, operations

MARK = "frame_of_the_developer"
SHOWN_BY = {"/api/runs/{run_id}/log", "/api/runs/{run_id}/state"}


def frame_of_the_developer(text: str = "it broke") -> str:
    raise ValueError(text)


@tool(effects="none")
async def stumble() -> str:
    return frame_of_the_developer("the tool broke, ask ann@example.com")


@tool(effects="none")
async def declines() -> str:
    raise ToolError("There is no such order.")


@agent(tools=[stumble], task_type="CLUMSY")
async def clumsy(ctx: Context) -> str:
    """Fails in a step, in a tool and at last."""
    with pytest.raises(StepFailed):
        await ctx.step("look up", frame_of_the_developer)
    with pytest.raises(ToolFailed):
        await ctx.call(stumble)
    return frame_of_the_developer()


async def node(ctx: NodeContext) -> None:
    frame_of_the_developer()


TURNS: list[dict[str, Any]] = [
    {"calls": [{"tool": "stumble", "input": {}}, {"tool": "declines", "input": {}}]},
    {"text": "I see."},
]
THINKER = Agent("thinker", model="scripted", turns=TURNS, tools=[stumble, declines])


def app() -> App:
    declared = [clumsy, THINKER, plan("breaks", [Node("Break", node)])]
    return App({one.name: one for one in declared}, {}, "clumsy")


async def test_a_traceback_is_in_the_log_and_in_the_state_of_the_run(serve: Serve) -> None:
    server = await serve(app())
    run_id = await server.post("clumsy")
    log = await server.log(run_id)
    found = {event["type"]: event["data"]["traceback"] for event in log if "traceback" in event["data"]}
    assert list(found) == ["step.finished", "tool.finished", "run.error"]
    for text in found.values():
        assert text.startswith("Traceback (most recent call last):\n")
        assert MARK in text
        assert str(Path(__file__).name) in text
        assert "/runyard/engine/" not in text
        assert text.splitlines()[-1].startswith("ValueError: ")
    state = (await server.http.get(f"/api/runs/{run_id}/state")).json()
    assert state["steps"][0]["traceback"] == found["step.finished"]
    assert state["calls"][0]["traceback"] == found["tool.finished"]
    assert state["error"]["traceback"] == found["run.error"]


async def test_a_traceback_is_redacted_and_so_is_the_error_for_the_model(serve: Serve) -> None:
    server = await serve(app(), redact="email")
    run_id = await server.post("thinker")
    log = await server.log(run_id)
    first, second = [event["data"] for event in log if event["type"] == "tool.finished"]
    assert "ann@example.com" not in str(log)
    assert MARK in first["traceback"]
    assert first["output"].startswith("Error executing tool: the tool broke, ask [")
    assert second["output"] == "Error executing tool: There is no such order."
    assert "traceback" not in second, "a ToolError is an answer, not a mistake in the code"


async def test_a_model_gets_only_the_code_of_an_error_if_messages_are_withheld(serve: Serve) -> None:
    server = await serve(app(), tell_tool_errors=False)
    log = await server.log(await server.post("thinker"))
    first, second = [event["data"] for event in log if event["type"] == "tool.finished"]
    assert first["output"] == "Error executing tool: ValueError"
    assert "the tool broke" in first["traceback"], "a developer still sees it"
    assert second["output"] == "Error executing tool: There is no such order.", "a ToolError is meant for the model"


async def test_a_failed_node_of_a_plan_has_a_traceback(serve: Serve) -> None:
    server = await serve(app())
    assert (await server.http.post("/agents/runs", json={"plan": "breaks", "runId": "mine"})).status_code == 201
    await server.whole_stream("/agents/runs/mine/stream")
    run = (await server.http.get("/agents/runs/mine")).json()
    [error] = [event for event in await server.log(run["serverRunId"]) if event["type"] == "run.error"]
    assert MARK in error["data"]["traceback"]


async def test_no_other_face_and_no_log_shows_a_traceback(
    serve: Serve, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as lines:
        server = await serve(app(), checkpoints="files", heartbeat_seconds=0.1)
        runs = [
            await _in_a_thread(server),
            await _in_a_chat(server),
            await _of_a_plan(server),
            await _in_a_mailbox(server),
            await _of_a_task(server),
        ]
        walked: set[str] = set()
        for ids in runs:
            for operation in operations(app_of(server)):
                if operation.method == "GET" and _names(operation) <= set(ids):
                    answer = await _read(server, operation.at(ids))
                    if answer.status == 200:
                        walked.add(operation.path)
                        assert (MARK.encode() in answer.body) == (operation.path in SHOWN_BY), operation.path
    faces = {"/api/runs/{run_id}/events", "/api/threads/{thread_id}", "/agents/runs/{run_id}/stream"}
    faces |= {"/chats/{chat_id}", "/chats/{chat_id}/interactions/{interaction_id}/events"}
    faces |= {"/api/agents/{agent_id}/runs/{run_id}"}
    assert faces | SHOWN_BY <= walked
    assert MARK not in str(lines) + caplog.text
    written = [path.read_bytes() for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()]
    assert not any(MARK.encode() in data for data in written)


def _names(operation: Operation) -> set[str]:
    return {part[1:-1] for part in operation.path.split("/") if part.startswith("{")}


async def _read(server: Server, path: str) -> RawStream:
    """A whole answer; of the feed, which never ends, as much as there is now."""
    stream = await server.stream(path)
    if path in ENDLESS:
        await stream.pings(1)
        await stream.close()
    else:
        await stream.to_end()
    return stream


async def _in_a_thread(server: Server) -> dict[str, str]:
    thread_id = await server.thread()
    run_id = await server.post("clumsy", thread_id=thread_id)
    assert MARK.encode() not in (await server.ended(run_id)).body
    return {"thread_id": thread_id, "run_id": run_id}


async def _in_a_chat(server: Server) -> dict[str, str]:
    stream = await RawStream.open(server.port, "/chats/c/interactions", {}, body={"user_message": "hello"})
    await stream.to_end()
    assert MARK.encode() not in stream.body
    interaction = str(stream.frames[0].json["interaction_id"])
    return {"chat_id": "c", "interaction_id": interaction}


async def _of_a_plan(server: Server) -> dict[str, str]:
    answer = await server.http.post("/agents/runs", json={"plan": "breaks", "runId": "mine"})
    assert answer.status_code == 201, answer.text
    await server.whole_stream("/agents/runs/mine/stream")
    return {"run_id": "mine"}


async def _in_a_mailbox(server: Server) -> dict[str, str]:
    dm = (await server.http.post("/api/dms", json={"agentId": "clumsy"})).json()["id"]
    said = await server.http.post("/api/messages", json={"dmConversationId": dm, "text": "hello"})
    assert said.is_success, said.text
    runs = (await server.http.get("/api/agents/clumsy/runs")).json()["runs"]
    run_id = str(runs[0]["id"])
    await server.ended(run_id)
    return {"agent_id": "clumsy", "run_id": run_id, "dm_id": dm}


async def _of_a_task(server: Server) -> dict[str, str]:
    task = {"request_id": "r1", "task_type": "CLUMSY", "inputs": {}}
    answer = await server.http.post("/agents/run/sync", json=task)
    assert "TASK_FAILED" in answer.text
    assert MARK not in answer.text
    stream = await RawStream.open(server.port, "/agents/run/stream", {}, body=task | {"request_id": "r2"})
    await stream.to_end()
    assert MARK.encode() not in stream.body
    return {}
