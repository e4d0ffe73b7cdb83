"""The route `/mcp` speaks both revisions: envelopes, errors, forms, tasks, streams that continue at another pod."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import msgspec
import pytest

from runyard.base.sse import Frame, Parser
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

MEMORY = pytest.mark.parametrize("backend", ["memory"])
BOTH = {"Accept": "application/json, text/event-stream"}
KEY = "io.modelcontextprotocol/"
ASKS: dict[str, Any] = {"elicitation": {}}
TASKS: dict[str, Any] = {**ASKS, "extensions": {f"{KEY}tasks": {}}}
Answer = tuple[int, dict[str, Any]]


class Peer:
    """A client of one pod. `session` talks with a session, `stateless` without."""

    def __init__(self, server: Server) -> None:
        self.http = server.http
        self.headers: dict[str, str] = {}

    async def open(self, capabilities: Any = ASKS) -> httpx2.Response:
        params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t"}}
        answer = await self._post(message("initialize", params), {})
        self.headers = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        assert (await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status_code == 202
        return answer

    async def session(self, method: str, params: Any = None, request_id: Any = 1) -> Answer:
        answer = await self._post(message(method, params or {}, request_id))
        return answer.status_code, last(answer)

    async def notify(self, method: str, **params: Any) -> int:
        return (await self._post({"jsonrpc": "2.0", "method": method, "params": params})).status_code

    async def answer(self, wait_id: str, **content: Any) -> int:
        form = {"jsonrpc": "2.0", "id": wait_id, "result": {"action": "accept", "content": content}}
        return (await self._post(form)).status_code

    async def stateless(
        self, method: str, params: dict[str, Any] | None = None, capabilities: Any = ASKS, **headers: str
    ) -> Answer:
        """`headers`: those that differ from what the body says; an empty one is left out."""
        meta = {f"{KEY}protocolVersion": "2026-07-28", f"{KEY}clientCapabilities": capabilities}
        given = {**(params or {}), "_meta": meta}
        name = given.get("name") or given.get("taskId") or ""
        sent = {"mcp_protocol_version": "2026-07-28", "mcp_method": method, "mcp_name": name, **headers}
        answer = await self._post(
            message(method, given), {each.replace("_", "-"): value for each, value in sent.items() if value}
        )
        return answer.status_code, last(answer)

    async def _post(self, body: Any, headers: dict[str, str] | None = None) -> httpx2.Response:
        return await self.http.post(
            "/mcp", json=body, headers={**BOTH, **(self.headers if headers is None else headers)}
        )


def message(method: str, params: Any, request_id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call(agent: str, text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"name": agent, "arguments": {"message": text, **more}}


def events(answer: httpx2.Response) -> list[Frame]:
    return Parser().feed(answer.content)


def last(answer: httpx2.Response) -> dict[str, Any]:
    """The response in an answer, which is JSON or a stream."""
    is_stream = answer.headers["content-type"].startswith("text/event-stream")
    found: dict[str, Any] = msgspec.json.decode(events(answer)[-1].data if is_stream else answer.content)
    return found


@MEMORY
async def test_a_session_begins_lists_tools_and_calls_them(server: Server) -> None:
    peer = Peer(server)
    opened = (await peer.open()).json()["result"]
    assert (opened["protocolVersion"], opened["serverInfo"]["name"]) == ("2025-11-25", "runyard")
    assert await peer.session("ping") == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    tools = (await peer.session("tools/list"))[1]["result"]["tools"]
    assert {"happy", "books"} < {tool["name"] for tool in tools}
    assert "device" not in {tool["name"] for tool in tools}, "a plan takes no message"
    assert tools[0]["inputSchema"]["required"] == ["message"]

    _, done = await peer.session("tools/call", call("happy"), "a")
    assert done["result"]["content"][0]["text"] == "Ada knows Rüst \u2028 🦀\n"
    assert (done["id"], done["result"]["isError"]) == ("a", False)
    _, again = await peer.session("tools/call", call("happy"), "a")
    assert again == done, "the same request of a session finds its run"
    _, failed = await peer.session("tools/call", call("fails"), 3)
    assert failed["result"] == {**failed["result"], "isError": True}
    assert failed["result"]["content"][0]["text"] == "The script broke. (broken)"
    plain = await server.http.post("/mcp", json=message("tools/call", call("whole")))
    assert plain.json()["result"]["content"] == [{"type": "text", "text": "all of it"}], "JSON without Accept"


@MEMORY
async def test_errors_have_the_shape_of_json_rpc(server: Server) -> None:
    peer = Peer(server)
    await peer.open()

    async def code(method: str, params: Any = None) -> tuple[int, int]:
        status, found = await peer.session(method, params)
        return status, found["error"]["code"]

    assert await code("tasks/get", {"taskId": "x"}) == (200, -32601)
    assert await code("tools/call", call("unknown")) == (200, -32602)
    assert await code("tools/call", {"name": 1}) == (200, -32602)
    for arguments in ({}, {"message": " "}, {"message": "a", "thread_id": 1}, {"message": "a", "other": 1}):
        _, found = await peer.session("tools/call", {"name": "happy", "arguments": arguments})
        assert found["result"]["isError"] is True, "the model reads why"

    async def raw(body: bytes, **headers: str) -> tuple[int, Any]:
        kind = {"Content-Type": "application/json"}
        answer = await server.http.post("/mcp", content=body, headers={**BOTH, **kind, **headers})
        return answer.status_code, answer.json()["error"]["code"]

    assert await raw(b"{") == (400, -32700)
    assert await raw(b"[]") == (422, -32600)
    assert await raw(b'{"jsonrpc": "2.0", "id": 1}') == (400, -32600)
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    assert await raw(ping, **{"Mcp-Session-Id": "made-up"}) == (404, -32602)
    assert await raw(ping, **{"MCP-Protocol-Version": "1900-01-01"}) == (400, -32022)
    assert await raw(ping, Origin="http://evil.example.com") == (403, -32000)
    local = {**BOTH, "Origin": "http://localhost:1234"}
    assert (await server.http.post("/mcp", json=message("ping", {}), headers=local)).status_code == 200
    assert (await server.http.get("/mcp", headers={"Last-Event-ID": "made-up"})).status_code == 404
    for method in ("GET", "DELETE"):
        assert (await server.http.request(method, "/mcp")).status_code == 405


@MEMORY
async def test_a_stateless_request_is_checked_against_its_headers(server: Server) -> None:
    peer = Peer(server)
    status, found = await peer.stateless("server/discover")
    assert (status, "2026-07-28" in found["result"]["supportedVersions"]) == (200, True)
    assert found["result"]["capabilities"]["extensions"] == {f"{KEY}tasks": {}}
    assert {"resultType", "ttlMs", "cacheScope"} < found["result"].keys()
    _, tools = await peer.stateless("tools/list")
    assert {"resultType", "ttlMs", "cacheScope", "tools"} < tools["result"].keys()

    async def code(method: str, params: Any = None, **headers: str) -> tuple[int, int]:
        status, found = await peer.stateless(method, params, **headers)
        return status, found["error"]["code"]

    assert await code("tools/list", mcp_protocol_version="") == (400, -32020)
    assert await code("tools/list", mcp_method="tools/call") == (400, -32020)
    assert await code("tools/call", call("happy"), mcp_name="books") == (400, -32020)
    for method in ("initialize", "ping", "tasks/list", "tasks/result", "made/up"):
        assert await code(method) == (404, -32601)
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", **BOTH}
    bare = await server.http.post("/mcp", json=message("tools/list", {}), headers=headers)
    assert (bare.status_code, bare.json()["error"]["code"], bare.json()["id"]) == (400, -32602, 1)
    encoded = "=?base64?aGFwcHk=?="
    _, done = await peer.stateless("tools/call", call("happy"), mcp_name=encoded)
    assert (done["result"]["resultType"], done["result"]["isError"]) == ("complete", False)


@MEMORY
async def test_forms_are_answered_within_the_call_of_a_session(serve: Serve) -> None:
    """The client hears the question on its stream; its answer goes to another pod."""
    one, two = await serve(), await serve(worker=False)
    peer, other = Peer(one), Peer(two)
    await peer.open()
    other.headers = peer.headers
    calling = asyncio.create_task(
        one.http.post("/mcp", json=message("tools/call", call("books")), headers={**BOTH, **peer.headers})
    )
    seat = await _open_wait(one, 0)
    assert await other.answer(seat, row="none") == 400
    assert await other.answer(seat, row=7) == 202
    assert await other.answer(seat, row=8) == 202, "a late answer changes nothing"
    assert await other.answer(await _open_wait(one, 1), value='{"city": "Oslo"}') == 202
    answer = await calling
    assert last(answer)["result"]["content"][0]["text"] == "7 {'city': 'Oslo'}"
    asked = [msgspec.json.decode(each.data) for each in events(answer) if "elicitation" in each.data]
    assert [each["params"]["message"] for each in asked] == [
        "Which seat? hello",
        'The agent needs the result of where. {"why":"hello"}',
    ]

    frames = events(answer)
    for seen in range(len(frames)):
        rest = await two.http.get("/mcp", headers={**peer.headers, "Last-Event-ID": frames[seen].id})
        assert events(rest) == frames[seen + 1 :], "any pod continues the stream"


async def _open_wait(server: Server, answered: int) -> str:
    """The wait of the newest run, once it has so many answers."""

    async def found() -> str | None:
        waits = (await server.http.get("/api/waits")).json()["waits"]
        runs = (await server.http.get("/api/runs")).json()["runs"]
        if not waits or not runs:
            return None
        state = (await server.http.get(f"/api/runs/{runs[0]['run_id']}/state")).json()
        done = sum(each["state"] == "answered" for each in state["waits"].values())
        return str(waits[0]["wait_id"]) if done == answered and runs[0]["waiting"] else None

    return str(await eventually("the run waits", found))


@MEMORY
async def test_forms_are_answered_by_the_next_call_without_sessions(server: Server) -> None:
    peer = Peer(server)
    _, asked = await peer.stateless("tools/call", call("books"))
    [[wait, request]] = asked["result"]["inputRequests"].items()
    assert (asked["result"]["resultType"], request["method"]) == ("input_required", "elicitation/create")
    state = asked["result"]["requestState"]

    async def again(**more: Any) -> dict[str, Any]:
        return (await peer.stateless("tools/call", {**call("books"), "requestState": state, **more}))[1]

    wrong = await again(inputResponses={wait: {"action": "accept", "content": {"row": "x"}}, "other": {}})
    assert wrong["result"]["inputRequests"] == asked["result"]["inputRequests"], "it is asked again"
    right = {"action": "accept", "content": {"row": 7}}
    second = await again(inputResponses={wait: right})
    [tool] = second["result"]["inputRequests"]
    assert await again(inputResponses={wait: right}) == second, "the same answers lead to the same question"
    assert (await again(requestState=f"{state}9"))["error"]["code"] == -32602
    assert (await peer.stateless("tools/call", {**call("happy"), "requestState": state}))[1]["error"]["code"] == -32602
    state = second["result"]["requestState"]
    done = await again(inputResponses={tool: {"action": "accept", "content": {"value": "Oslo"}}})
    assert done["result"]["content"][0]["text"] == "7 Oslo"

    _, told = await peer.stateless("tools/call", call("asks", thread_id="t"), capabilities={})
    assert "`runyard approvals approve approval_" in told["result"]["content"][0]["text"]
    _, busy = await peer.stateless("tools/call", call("asks", thread_id="t"))
    assert busy["result"]["isError"] is True
    assert "waits for an answer" in busy["result"]["content"][0]["text"]


@MEMORY
async def test_a_task_is_a_run(server: Server) -> None:
    peer = Peer(server)

    async def task(method: str, task_id: str, **more: Any) -> dict[str, Any]:
        return (await peer.stateless(f"tasks/{method}", {"taskId": task_id, **more}, TASKS))[1]

    async def until(task_id: str, status: str) -> dict[str, Any]:
        async def found() -> dict[str, Any] | None:
            seen: dict[str, Any] = (await task("get", task_id))["result"]
            return seen if seen["status"] == status else None

        return dict(await eventually(f"the task is {status}", found))

    _, made = await peer.stateless("tools/call", call("mails"), TASKS)
    assert (made["result"]["resultType"], made["result"]["status"]) == ("task", "working")
    mail = made["result"]["taskId"]
    [approval] = (await until(mail, "input_required"))["inputRequests"]
    answer = {approval: {"action": "accept", "content": {"approved": True}}, "unknown": {}}
    assert (await task("update", mail, inputResponses=answer))["result"]["resultType"] == "complete"
    done = await until(mail, "completed")
    assert done["result"]["content"][0]["text"] == "sent to ann"
    assert done["resultType"] == "complete"

    _, made = await peer.stateless("tools/call", call("asks"), TASKS)
    other = made["result"]["taskId"]
    await until(other, "input_required")
    for _ in range(2):  # of a run that has ended, too
        assert "taskId" not in (await task("cancel", other))["result"]
    await until(other, "cancelled")

    native = await server.post("whole")
    assert (await until(native, "completed"))["result"]["content"][0]["text"] == "all of it"
    assert (await task("get", "unknown"))["error"]["code"] == -32602
    status, refused = await peer.stateless("tasks/get", {"taskId": mail})
    assert (status, refused["error"]["code"]) == (400, -32021)


@MEMORY
async def test_a_client_cancels_by_a_notification_or_without_sessions_by_leaving(server: Server, gate: Gate) -> None:
    peer = Peer(server)
    await peer.open()
    calling = asyncio.create_task(peer.session("tools/call", call("gated"), 5))
    await gate.until_reached()
    assert await peer.notify("notifications/cancelled", requestId=99) == 202
    assert await peer.notify("notifications/cancelled", requestId=5) == 202
    _, found = await calling
    assert found["result"]["content"][0]["text"] == "The run was canceled."

    gate.reached.clear()
    leaving = asyncio.create_task(peer.stateless("tools/call", call("gated")))
    await gate.until_reached()
    leaving.cancel()
    await eventually("the run is stopped", lambda: len(gate.stopped) == 2)

    gate.reached.clear()
    staying = asyncio.create_task(peer.session("tools/call", call("gated"), 6))
    await gate.until_reached()
    staying.cancel()
    gate.open.set()
    _, found = await peer.session("tools/call", call("gated"), 6)
    assert found["result"]["content"][0]["text"] == "before after", "with a session the run continues"


@MEMORY
async def test_streams_are_limited_and_answers_are_not(serve: Serve, gate: Gate) -> None:
    """A key that has as many streams open as it may can still list tools and cancel."""
    server = await serve(keys=True, max_streams_per_key=1)
    peer = Peer(server)
    server.http.headers["Authorization"] = f"Bearer {await server.key('ann')}"
    await peer.open()
    calling = asyncio.create_task(peer.session("tools/call", call("gated"), 5))
    await gate.until_reached()
    status, refused = await peer.session("tools/call", call("happy"), 6)
    assert (status, refused["error"]["data"]["code"]) == (429, "too_many_streams")
    assert (await peer.session("tools/list"))[0] == 200
    assert await peer.notify("notifications/cancelled", requestId=5) == 202
    assert (await calling)[1]["result"]["isError"] is True
    assert (await peer.session("tools/call", call("happy"), 7))[0] == 200, "the place is free again"
    own = {"Host": "runs.example.com", "Origin": "https://runs.example.com", **peer.headers}
    assert (await server.http.post("/mcp", json=message("ping", {}), headers=own)).status_code == 200
    own["Origin"] = "https://other.example.com"
    assert (await server.http.post("/mcp", json=message("ping", {}), headers=own)).status_code == 403
