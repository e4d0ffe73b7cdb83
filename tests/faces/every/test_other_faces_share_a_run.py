"""A run that a client of one protocol began is followed, answered and canceled by clients of the other protocols, each
by the routes of its own protocol."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

import runyard
from runyard.agents.declared.loading import App
from tests.faces.every.test_clients_share_a_run import Speaker, begun, curious
from tests.faces.every.test_streams_of_clients import HEADERS, only_run
from tests.faces.mcp.test_protocol import TASKS, Peer
from tests.faces.samples.requests_of_faces import REQUESTS
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

PROTOCOLS = {"responses": "openai", "completions": "openai", "thread stream": "langgraph"}  # of faces with other names
MEMORY = pytest.mark.parametrize("backend", ["memory"])
locate = runyard.client_tool("locate", "Return the city of the user.", answer={"type": "string"})


@runyard.agent(tools=[locate])
async def traveler(ctx: runyard.Context) -> str:
    return f"Off to {await ctx.call(locate)}."


class Target(NamedTuple):
    """A run, and what it waits for: a question, or a tool of the client."""

    agent: str
    run_id: str
    thread_id: str
    wait_id: str = ""
    is_tool: bool = False


Act = Callable[[Server, Target], Awaitable[str]]
Answer = Callable[[Server, Target, Any], Awaitable[str]]


async def posted(server: Server, path: str, body: Any = None) -> str:
    """Post a request, and return the response, which may be a stream."""
    response = await server.http.post(path, json=body, headers=HEADERS)
    assert response.status_code in (200, 202), response.text
    return str(response.text)


async def task(server: Server, method: str, run: Target, **more: Any) -> str:
    """Send a method of MCP's tasks."""
    return str(await Peer(server).stateless(f"tasks/{method}", {"taskId": run.run_id, **more}, TASKS))


def a2a(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


# --- follow


async def opened(server: Server, path: str, body: Any = None) -> RawStream:
    return await RawStream.open(server.port, path, HEADERS, body=body)


FOLLOW: Mapping[str, Callable[[Server, Target], Awaitable[RawStream]]] = {
    "ai": lambda server, run: opened(server, f"/api/ai/{run.agent}/{run.thread_id}/stream"),
    "responses": lambda server, run: opened(server, f"/v1/responses/resp_{run.run_id}?stream=true"),
    "a2a": lambda server, run: opened(server, f"/a2a/{run.agent}", a2a("SubscribeToTask", {"id": run.run_id})),
    "langgraph": lambda server, run: opened(server, f"/langgraph/threads/{run.thread_id}/runs/{run.run_id}/stream"),
    "thread stream": lambda server, run: opened(
        server, f"/langgraph/threads/{run.thread_id}/stream/events", {"channels": ["messages", "lifecycle"]}
    ),
}


# --- cancel

CANCEL: Mapping[str, Act] = {
    "ai": lambda server, run: posted(server, f"/api/ai/{run.agent}/{run.thread_id}/stop"),
    "ag-ui": lambda server, run: posted(server, f"/api/ag-ui/{run.agent}/{run.thread_id}/stop"),
    "responses": lambda server, run: posted(server, f"/v1/responses/resp_{run.run_id}/cancel"),
    "mcp": lambda server, run: task(server, "cancel", run),
    "a2a": lambda server, run: posted(server, f"/a2a/{run.agent}", a2a("CancelTask", {"id": run.run_id})),
    "langgraph": lambda server, run: posted(server, f"/langgraph/threads/{run.thread_id}/runs/{run.run_id}/cancel"),
}


# --- answer


async def by_ai(server: Server, run: Target, value: Any) -> str:
    part = {"type": "tool-any", "toolCallId": run.wait_id, "state": "output-available", "input": {}, "output": value}
    message = {"id": run.run_id, "role": "assistant", "parts": [part]}
    return await posted(server, f"/api/ai/{run.agent}", {"id": run.thread_id, "messages": [message]})


async def by_ag_ui(server: Server, run: Target, value: Any) -> str:
    path, body = REQUESTS["ag-ui"](run.agent, run.thread_id)
    if run.is_tool:
        body["messages"].append({"id": "result-1", "role": "tool", "toolCallId": run.wait_id, "content": value})
    else:
        body["resume"] = [{"interruptId": run.wait_id, "status": "resolved", "payload": value}]
    return await posted(server, path, body)


async def by_responses(server: Server, run: Target, value: Any) -> str:
    result = {"type": "function_call_output", "call_id": run.wait_id, "output": value}
    return await posted(server, "/v1/responses", {"model": run.agent, "input": [result]})


async def by_completions(server: Server, run: Target, value: Any) -> str:
    call = {"id": run.wait_id, "type": "function", "function": {"name": "locate", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": run.wait_id, "content": value},
    ]
    return await posted(server, "/v1/chat/completions", {"model": run.agent, "messages": messages})


async def by_mcp(server: Server, run: Target, value: Any) -> str:
    form = {"action": "accept", "content": {"value": value}}
    return await task(server, "update", run, inputResponses={run.wait_id: form})


async def by_a2a(server: Server, run: Target, value: Any) -> str:
    parts = [{"data": {"waitId": run.wait_id, "value": value}}]
    message = {"messageId": str(uuid4()), "role": "ROLE_USER", "taskId": run.run_id, "parts": parts}
    return await posted(server, f"/a2a/{run.agent}", a2a("SendStreamingMessage", {"message": message}))


async def by_langgraph(server: Server, run: Target, value: Any) -> str:
    resumed = {"assistant_id": run.agent, "command": {"resume": {run.wait_id: value}}}
    return await posted(server, f"/langgraph/threads/{run.thread_id}/runs/stream", resumed)


async def by_thread_stream(server: Server, run: Target, value: Any) -> str:
    command = {"id": 1, "method": "input.respond", "params": {"interrupt_id": run.wait_id, "response": value}}
    return await posted(server, f"/langgraph/threads/{run.thread_id}/commands", command)


ANSWER: Mapping[str, Answer] = {
    "ai": by_ai,
    "ag-ui": by_ag_ui,
    "mcp": by_mcp,
    "a2a": by_a2a,
    "langgraph": by_langgraph,
    "thread stream": by_thread_stream,
}
RESULT: Mapping[str, Answer] = {**ANSWER, "responses": by_responses, "completions": by_completions}
SILENT = ("mcp", "thread stream")  # their responses to an answer do not have the rest of the run


# --- tests


def pairs(others: Iterable[str]) -> pytest.MarkDecorator:
    """Return all pairs of a face that begins a run, and another one of another protocol."""
    found = [
        (face, other)
        for face in REQUESTS
        for other in others
        if PROTOCOLS.get(face, face) != PROTOCOLS.get(other, other)
    ]
    return pytest.mark.parametrize(("face", "other"), found)


async def target(server: Server, agent: str, wait_id: str = "", is_tool: bool = False) -> Target:
    run_id = await only_run(server)
    return Target(agent, run_id, (await server.run(run_id))["thread_id"], wait_id, is_tool)


@MEMORY
@pairs(FOLLOW)
async def test_a_live_run_of_one_face_is_followed_in_another(face: str, other: str, serve: Serve) -> None:
    speaker = Speaker()
    server = await serve(speaker.app)
    first = await begun(server, face, "speaker")
    second = await FOLLOW[other](server, await target(server, "speaker"))
    await second.until(lambda: b"alpha" in second.body)
    speaker.release()
    await asyncio.gather(first.to_end(), second.until(lambda: b"omega" in second.body))
    assert b"omega" in first.body
    second.abort()


@MEMORY
@pairs(CANCEL)
async def test_a_run_of_one_face_is_canceled_in_another(face: str, other: str, serve: Serve) -> None:
    server = await serve(Speaker().app)
    stream = await begun(server, face, "speaker")
    run = await target(server, "speaker")
    await CANCEL[other](server, run)
    await stream.to_end()
    assert stream.ended_cleanly
    assert (await server.run(run.run_id))["status"] == "canceled"


@MEMORY
@pairs(ANSWER)
async def test_a_question_to_one_face_is_answered_in_another(face: str, other: str, serve: Serve) -> None:
    server = await serve(App({"curious": curious}, {}, "curious"))
    await answered_by(server, face, "curious", ANSWER, other, 12, "Row 12 is yours.")


@MEMORY
@pairs(RESULT)
async def test_a_call_for_the_client_of_one_face_is_answered_in_another(face: str, other: str, serve: Serve) -> None:
    server = await serve(App({"traveler": traveler}, {}, "traveler"))
    await answered_by(server, face, "traveler", RESULT, other, "Oslo", "Off to Oslo.")


async def answered_by(
    server: Server, face: str, agent: str, by: Mapping[str, Answer], other: str, value: Any, end: str
) -> None:
    """Begin a run in one face, and answer it in another. The response to the answer has the rest of the run."""
    stream = await begun(server, face, agent)
    wait_id = await server.waiting(await only_run(server))
    run = await target(server, agent, wait_id, is_tool=by is RESULT)
    told = await by[other](server, run, value)
    assert end.encode() in (await server.ended(run.run_id)).body
    assert other in SILENT or end in told
    await stream.close()
