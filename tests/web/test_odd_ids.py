"""Ids are checked in one place, before any route: no text in a path or query causes a server error."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.faces.live_server import Server
from tests.web.every_route import ENDLESS, Operation, OwnedObjects, app_of, bearer, create_objects, operations
from tests.web.test_problems import problem

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
    ]
    for path, body in bodies:
        answer = await server.http.post(path, json=body)
        assert answer.status_code < 500, (path, body, answer.text)
