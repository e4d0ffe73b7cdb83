"""Ids are checked in one place, before any route: no text in a path or query causes a server error."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from runyard.engine.intake.user_message import UserMessage
from runyard.store import Accepted
from tests.support.in_process.live_server import Server
from tests.web.access.every_route import (
    A2A_MESSAGE,
    AG_UI_MESSAGE,
    ENDLESS,
    UI_MESSAGES,
    Operation,
    OwnedObjects,
    app_of,
    bearer,
    create_objects,
    operations,
)
from tests.web.responses.test_problems import problem

ODD = ("%00", "a%00b", "%EF%B7%90", "%ff", "%F0%9F%A6%9C", "x" * 3000, "'", "%25", "%5C", "%0A")
pytestmark = pytest.mark.untraced


def _with_odd_ids(operation: Operation, anns: OwnedObjects, odd: str) -> Iterator[str]:
    """The path with each of its ids replaced in turn, while the others are right."""
    ids = anns.of(operation)
    for name in ids:
        if "{" + name + "}" in operation.path:
            yield operation.at({**ids, name: odd})


async def test_no_route_fails_on_an_odd_id(locked: Server) -> None:
    key = await locked.key("ann")
    anns = await create_objects(locked, key)
    for odd in ODD[:6]:
        tried = 0
        for operation in operations(app_of(locked)):
            if operation.method == "DELETE" and operation.path == "/api/keys/{key_id}":
                continue
            body = anns.body(operation)
            for path in _with_odd_ids(operation, anns, odd):
                async with locked.http.stream(operation.method, path, json=body, headers=bearer(key)) as answer:
                    if operation.path not in ENDLESS or answer.status_code != 200:
                        await answer.aread()
                assert answer.status_code < 500, (operation, path)
                if "%00" in odd and operation.method != "HEAD":
                    problem(answer, 404, "not_found")
                tried += 1
        assert tried > 40


async def test_no_list_fails_on_an_odd_parameter(server: Server) -> None:
    document = app_of(server).openapi()
    tried = 0
    for path, operations_of in document["paths"].items():
        if "get" not in operations_of or path in ENDLESS:
            continue
        for parameter in operations_of["get"].get("parameters", ()):
            for odd in ODD if parameter["in"] == "query" else ():
                answer = await server.http.get(f"{_filled(path)}?{parameter['name']}={odd}")
                assert answer.status_code < 500, (path, parameter["name"], odd, answer.text)
                tried += 1
    assert tried > 100
    problem(await server.http.get("/api/runs?agent=%00"), 422, "invalid")


def _filled(path: str) -> str:
    return Operation("GET", path).at(Anything()).partition("?")[0]


class Anything(dict[str, str]):
    """An agent that exists, for whatever name."""

    def __missing__(self, name: str) -> str:
        return "happy"


async def test_no_body_fails_on_an_id_with_nul(server: Server) -> None:
    channel = (await server.http.post("/api/channels", json={"name": "all"})).json()["id"]
    message = (await server.http.post("/api/messages", json={"channelId": channel, "text": "x"})).json()["id"]
    thread, nul = await server.thread(), "a\0b"
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("/api/threads", {"agent": nul}),
        ("/api/threads", {"user_id": nul}),
        (f"/api/threads/{thread}/messages", {"content": "x", "agent": nul}),
        (f"/api/threads/{thread}/fork", {"run_id": nul}),
        ("/chats/c/interactions", {"user_message": "x", "agent": nul}),
        ("/agents/runs", {"plan": nul}),
        ("/agents/runs", {"runId": nul}),
        ("/agents/run/sync", {"request_id": nul, "task_type": nul}),
        ("/api/channels", {"name": nul, "agents": [nul], "users": [nul]}),
        ("/api/dms", {"agentId": nul}),
        ("/api/dms", {"agentId": "happy", "otherAgentId": nul}),
        ("/api/messages", {"channelId": nul, "text": "x"}),
        ("/api/messages", {"channelId": channel, "text": "x", "parentMessageId": nul}),
        ("/api/messages", {"channelId": channel, "text": "x", "userId": nul}),
        (f"/api/messages/{message}/reactions", {"emoji": nul, "userId": nul}),
        ("/api/agents", {"id": nul, "modelId": nul}),
        ("/api/agents", {"id": "clerk", "modelId": nul, "title": nul}),
        ("/api/keys", {"owner": "ann", "label": nul}),
        ("/api/events", {"id": nul, "name": nul, "key": nul, "data": nul}),
        ("/api/ag-ui/happy", {"threadId": nul, "runId": "r1", "messages": [AG_UI_MESSAGE]}),
        ("/api/ag-ui/happy", {"threadId": nul, "runId": "r2", "messages": [AG_UI_MESSAGE]}),
        ("/api/ai/happy", {"id": nul, **UI_MESSAGES}),
        ("/api/threads", {}),
    ]
    for path, body in bodies:
        answer = await server.http.post(path, json=body)
        assert answer.status_code < 500, (path, body, answer.text)


@pytest.mark.parametrize("odd", [["user"], {"a": 1}, 7, None, [[]]])
async def test_no_face_fails_on_a_role_or_type_that_is_no_text(server: Server, odd: Any) -> None:
    message = {"role": odd, "type": odd, "id": "m1", "content": "hello"}
    parts = {"role": "assistant", "content": [{"type": odd, "text": "hello"}]}
    for path, body in (
        ("/api/ag-ui/happy", {"threadId": "t", "runId": "r", "messages": [message]}),
        ("/langgraph/runs/wait", {"assistant_id": "happy", "input": {"messages": [message]}}),
        ("/v1/chat/completions", {"model": "happy", "messages": [parts, message]}),
        ("/v1/responses", {"model": "happy", "input": [parts, message]}),
        ("/api/ai/happy", {"id": "c", "messages": [{**message, "parts": [{"type": odd}]}]}),
    ):
        answer = await server.http.post(path, json=body)
        assert answer.status_code in (400, 422), (path, answer.text)


def _each_text_replaced(body: Any, odd: str) -> Iterator[Any]:
    """The body with each of its texts replaced in turn, while the others are right."""
    if isinstance(body, str):
        yield odd
    elif isinstance(body, dict):
        for name, value in body.items():
            yield from ({**body, name: changed} for changed in _each_text_replaced(value, odd))
    elif isinstance(body, list):
        for n, value in enumerate(body):
            yield from ([*body[:n], changed, *body[n + 1 :]] for changed in _each_text_replaced(value, odd))


async def test_no_route_fails_on_nul_in_any_text_of_its_body_however_often_it_is_sent(locked: Server) -> None:
    key = await locked.key("ann")
    anns = await create_objects(locked, key)
    tried = 0
    for operation in operations(app_of(locked)):
        for body in _each_text_replaced(anns.body(operation), "a\0b"):
            path = operation.at(anns.of(operation))
            for _ in range(2):
                async with locked.http.stream(operation.method, path, json=body, headers=bearer(key)) as answer:
                    assert answer.status_code < 500, (operation, body)  # a stream may wait: it is not read
            tried += 1
    assert tried > 60


def _with_ids(odd: str) -> Iterator[tuple[str, Any]]:
    """For each face, a request whose thread, run and message have ids that its client chose."""
    message = {**A2A_MESSAGE, "messageId": odd, "contextId": odd}
    rpc = {"jsonrpc": "2.0", "id": odd}
    inputs = {"messages": [{"type": "human", "id": odd, "content": "hello"}]}
    answer = {"type": "function_call_output", "call_id": odd, "output": "hello"}
    call = {"name": "happy", "arguments": {"message": "hello", "thread": odd}, "_meta": {"progressToken": odd}}
    yield "/agents/runs", {"runId": odd, "plan": "device"}
    yield "/agents/run/sync", {"request_id": odd, "run_id": odd, "task_type": "happy", "inputs": {}}
    yield f"/chats/{quote(odd)}/interactions", {"user_message": "hello"}
    yield "/api/ag-ui/happy", {"threadId": odd, "runId": odd, "messages": [{**AG_UI_MESSAGE, "id": odd}]}
    yield "/api/ag-ui/happy", {"threadId": odd, "runId": odd, "resume": [{"interruptId": odd, "status": "resolved"}]}
    yield "/api/ai/happy", {"id": odd, "messages": [{**UI_MESSAGES["messages"][0], "id": odd}]}
    yield "/api/ai/happy", {"id": odd, "messageId": odd, "trigger": "regenerate-message", **UI_MESSAGES}
    yield "/a2a/happy/message:send", {"message": message}
    yield "/a2a/happy/message:send", {"message": {**message, "taskId": odd}}
    yield "/a2a/happy", {**rpc, "method": "SendMessage", "params": {"message": message}}
    yield "/a2a/happy", {**rpc, "method": "GetTask", "params": {"id": odd}}
    yield "/mcp", {**rpc, "method": "tools/call", "params": call}
    yield "/langgraph/threads", {"thread_id": odd, "if_exists": "do_nothing"}
    yield "/langgraph/runs/wait", {"assistant_id": "happy", "input": inputs, "checkpoint": {"thread_id": odd}}
    yield "/v1/chat/completions", {"model": "happy", "messages": [{"role": "tool", "tool_call_id": odd, "content": ""}]}
    yield "/v1/responses", {"model": "happy", "input": "hello", "conversation": odd}
    yield "/v1/responses", {"model": "happy", "input": [answer], "previous_response_id": odd}


async def test_no_face_fails_on_a_chosen_id_with_nul_however_often_it_is_sent(server: Server) -> None:
    answers: dict[str, list[int]] = {}
    for _ in range(3):
        for path, body in _with_ids("a\0b"):
            answer = await server.http.post(path, json=body)
            assert answer.status_code < 500, (path, body, answer.text)
            answers.setdefault(path, []).append(answer.status_code)
    taken = {"/api/ag-ui/happy", "/api/ai/happy", "/a2a/happy/message:send", "/a2a/happy", "/mcp"}
    assert not {path for path in taken if not any(status < 300 for status in answers[path])}
    assert set(answers["/agents/runs"]) == {422}


async def test_a_run_has_the_clean_form_of_its_chosen_id_however_a_face_passes_it_on(server: Server) -> None:
    engine, odd, chat = server.process.engine, "a\0b", await server.thread()
    starts: tuple[Callable[[], Awaitable[Accepted]], ...] = (
        lambda: engine.intake.start("local", "native", "device", odd),
        lambda: engine.intake.post(chat, UserMessage("local", "native", "hello", "happy", external_id=f"{odd}1")),
        lambda: engine.intake.post_by_name(
            odd, UserMessage("local", "native", "hello", "happy", external_id=f"{odd}2")
        ),
    )
    for start, name in zip(starts, (odd, f"{odd}1", f"{odd}2"), strict=True):
        first, second = await start(), await start()
        assert (first.repeated, second.repeated, second.run_id) == (False, True, first.run_id)
        found = await engine.views.named_run("local", name)
        assert (found.id, found.external_id) == (first.run_id, name.replace("\0", "\ufffd"))


async def test_no_face_takes_an_id_with_a_lone_surrogate(server: Server) -> None:
    for path, body in _with_ids("odd-id"):
        text = json.dumps(body).replace("odd-id", r"a\ud800b")
        answer = await server.http.post(path, content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code < 500, (path, answer.text)
        if "ud800" in text:
            assert answer.status_code in (400, 422) or "error" in answer.json(), (path, answer.text)


async def test_a_request_with_nul_in_its_ids_is_known_again_while_its_run_waits(server: Server) -> None:
    odd = "a\0b"
    message = {**A2A_MESSAGE, "messageId": odd, "contextId": f"{odd}2"}
    for path, body in (
        ("/api/ag-ui/asks", {"threadId": odd, "runId": odd, "messages": [AG_UI_MESSAGE]}),
        ("/a2a/asks/message:send", {"message": message}),
    ):
        answers = [await server.http.post(path, json=body) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200], (path, answers[1].text)
