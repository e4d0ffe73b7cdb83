"""A field that a route does not have is refused with a hint, so that a misspelled one does nothing, and says so."""

import re
from typing import Any
from uuid import uuid4

import pytest

from runyard.base.fields import hint
from runyard.base.ids import new_id
from tests.faces.chats.chats_client import Chat, chat_agents, interaction_of
from tests.faces.samples.agents_for_tests import Gate
from tests.faces.samples.requests_of_faces import REQUESTS
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import Operation, app_of, bearer, create_objects, operations, unknown
from tests.web.responses.test_problems import MARKER, MEMORY, problem

OPEN_BY_CONTRACT = {"/agents/run/sync", "/agents/run/stream"}
OPEN_BY_PROTOCOL = ("/a2a/", "/mcp", "/langgraph/", "/.well-known/")  # their clients send what other servers have
PROBES = {"/health", "/health/ready", "/metrics", "/agents/schema.json"}
OPEN_BY_A2A = "/a2a/"  # newer clients may send fields that this version does not know
FILES = {"/api/files"}  # the body is the bytes of a file
BATCH = "/langgraph/runs/batch"
ALONE = ("/langgraph/runs", "/langgraph/runs/stream", "/langgraph/runs/wait")
BODIES: dict[str, dict[str, Any]] = {
    "/api/channels": {"name": "all"},
    "/api/dms": {"agentId": "happy"},
    "/api/messages": {"text": "hello"},
    "/api/agents": {"id": "clerk-2", "modelId": "fake/model"},
    **{path: {"assistant_id": "happy", "input": "hello"} for path in ALONE},
    "/v1/responses": {"model": "happy", "input": "hello"},
    "/v1/chat/completions": {"model": "happy", "messages": [{"role": "user", "content": "hello"}]},
}


@MEMORY
async def test_every_route_but_those_of_the_contract_refuses_a_field_that_it_does_not_have(locked: Server) -> None:
    key = await locked.key("ann")
    anns = await create_objects(locked, key)
    tried = []
    for operation in operations(app_of(locked)):
        if operation.method not in ("POST", "PUT", "PATCH") or operation.path in OPEN_BY_CONTRACT | FILES:
            continue
        if operation.path.startswith(OPEN_BY_A2A):
            continue
        given: Any = {**(anns.body(operation) or BODIES.get(operation.path, {})), MARKER: 1}
        given = [given] if operation.path == BATCH else given
        path = operation.at(anns.of(operation))
        answer = await locked.http.request(operation.method, path, json=given, headers=bearer(key))
        body = problem(answer, 422, "invalid")
        assert [error["where"] for error in body["errors"]] == ["body"], (operation, body)
        assert body["errors"][0]["what"].removeprefix("0: ").startswith("Unknown field; "), operation
        assert MARKER not in answer.text
        tried.append(operation)
    assert len(tried) > 20


@MEMORY
async def test_every_route_refuses_a_query_parameter_that_it_does_not_have(server: Server) -> None:
    """Before it looks for the object, so that any id does. Only clients of some protocols and probes may send more."""
    document, ids = app_of(server).openapi(), next(unknown())
    tried: set[str] = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if path.startswith(OPEN_BY_PROTOCOL) or path in PROBES | OPEN_BY_CONTRACT:
                continue
            names = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
            for given, meant in [(MARKER, ""), *((f"{name}e", name) for name in names)]:
                if given in names:
                    continue
                at = Operation(method.upper(), path).at(ids).partition("?")[0]
                answer = await server.http.request(method, at, params={given: "1"})
                assert answer.status_code == 422, (method, path, answer.text)
                hinted = f"Unknown field; did you mean `{meant}`?" if meant else "Unknown field; "
                assert hinted in answer.text, (method, path, answer.text)
                assert MARKER not in answer.text
                tried.add(f"{method} {path}")
    assert len(tried) > 60
    assert {"get /api/runs/{run_id}/events", "get /api/runs", "post /api/threads/{thread_id}/messages"} <= tried


@MEMORY
async def test_parameters_that_a_client_of_a_protocol_or_a_probe_adds_are_ignored(server: Server) -> None:
    for path in ("/health?probe=1", "/a2a/happy/tasks?page_size=1&A2A-Version=1.0", "/langgraph/info?xray=true"):
        assert (await server.http.get(path)).status_code == 200, path
    body = {"request_id": "r1", "task_type": "happy", "inputs": {}}
    assert (await server.http.post("/agents/run/sync?trace=1", json=body)).json()["status"] == "ok"
    missing = await server.http.get(f"/v1/responses/resp_{new_id()}?include[]=reasoning.encrypted_content")
    assert missing.status_code == 404, "OpenAI's client may ask for parts that do not exist here"


@MEMORY
async def test_a_misspelled_field_is_named_by_the_field_that_was_meant(server: Server) -> None:
    thread_id = await server.thread()
    for path, body, meant in (
        ("/api/threads", {"agnet": "happy"}, "agent"),
        ("/api/threads", {"userId": "ann"}, "user_id"),
        (f"/api/threads/{thread_id}/messages", {"content": "x", "agnt": "asks"}, "agent"),
        ("/agents/runs", {"run_id": "mine"}, "runId"),
        ("/api/channels", {"name": "x", "topik": "y"}, "topic"),
    ):
        [error] = problem(await server.http.post(path, json=body), 422, "invalid")["errors"]
        assert error["what"] == f"Unknown field; did you mean `{meant}`?", path
    assert (await server.http.get("/api/runs")).json()["runs"] == []


@MEMORY
async def test_the_contract_takes_fields_that_it_does_not_know(server: Server) -> None:
    asked = {"request_id": "r1", "task_type": "happy", "inputs": {}, "shoe_size": 43}
    answer = await server.http.post("/agents/run/sync", json=asked)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


async def test_an_edit_in_the_words_of_the_other_face_is_refused_and_decides_nothing(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate))
    chat = Chat(server)
    stream, approval = await chat.start_waiting()
    interaction = interaction_of(stream)
    edited = {"code": "print(2)"}
    wrong = await chat.approve(interaction, approval, True, input=edited)
    assert problem(wrong, 422, "invalid")["errors"][0]["what"] == "Unknown field; did you mean `tool_input`?"
    native = f"/api/approvals/{approval}"
    wrong = await server.http.post(native, json={"decision": "approve", "tool_input": edited})
    assert problem(wrong, 422, "invalid")["errors"][0]["what"] == "Unknown field; did you mean `input`?"
    wrong = await server.http.post(native, json={"approved": True})
    assert "`decision`" in problem(wrong, 422, "invalid")["errors"][0]["what"]
    assert (await chat.look(interaction))["status"] == "WAITING_APPROVAL"
    assert gate.calls["executed"] == 0
    assert (await chat.approve(interaction, approval, True, tool_input=edited)).status_code == 200
    await stream.to_end()
    log = await server.log(interaction.removeprefix("int_"))
    assert [event["data"]["input"] for event in log if event["type"] == "tool.started"] == [edited]


async def test_an_approval_has_one_id_in_the_chats_face_in_the_log_and_in_the_list(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate))
    chat = Chat(server)
    stream, shown = await chat.start_waiting()
    assert await server.waiting(interaction_of(stream).removeprefix("int_")) == shown
    listed = (await server.http.get("/api/approvals")).json()["approvals"]
    assert [row["approval_id"] for row in listed] == [shown]
    decided = await server.http.post(f"/api/approvals/{shown}", json={"decision": "approve"})
    assert decided.json()["approval_id"] == shown
    await stream.to_end()
    log = await server.log(interaction_of(stream).removeprefix("int_"))
    ids = {event["data"]["approval_id"] for event in log if "approval_id" in event["data"]}
    assert ids == {shown}


@MEMORY
@pytest.mark.parametrize("face", ["ai", "ag-ui", "langgraph", "mcp", "a2a"])
async def test_an_approval_has_the_same_id_in_the_stream_of_every_protocol(face: str, server: Server) -> None:
    path, body = REQUESTS[face]("mails", str(uuid4()))
    headers = {"Accept": "application/json, text/event-stream", "A2A-Version": "1.0"}
    stream = await RawStream.open(server.port, path, headers, body=body)
    await stream.until(lambda: b"approval_" in stream.body)
    [listed] = (await server.http.get("/api/approvals")).json()["approvals"]
    shown = set(re.findall(r"approval_[0-9a-f-]{36}", stream.body.decode()))
    assert shown == {listed["approval_id"]}
    await stream.close()
    decided = await server.http.post(f"/api/approvals/{listed['approval_id']}", json={"decision": "reject"})
    assert decided.status_code == 200, decided.text


def test_a_hint_costs_little_whatever_the_name() -> None:
    assert hint(["a" * 10_000_000], ["agent"]) == "Unknown field; the known ones are `agent`."
    assert hint([f"agent{n}" for n in range(100_000)], ["agent"]) == "Unknown field; did you mean `agent`?"
    assert hint(["x"], []) == "Unknown field; there are none here."
