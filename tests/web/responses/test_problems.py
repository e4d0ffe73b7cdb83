"""Every error has one shape, and none repeats the request."""

import functools
import inspect
import io
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import httpx2
import pytest
import structlog

from runyard.base.clock import SystemClock
from runyard.base.ids import new_id
from runyard.errors import Unavailable
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from runyard.telemetry import logs
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.live_server import QUICK, Serve, Server, served

MEMORY = pytest.mark.parametrize("backend", ["memory"])
MARKER = "xMARKERx"


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The body of an error, after a look at its shape."""
    is_rpc = answer.request.url.path.startswith("/a2a/") and "jsonrpc" in answer.text
    assert answer.status_code == status or is_rpc, answer.text
    if answer.request.url.path.startswith("/agents/run/"):  # the routes of the contract have its envelope
        error = dict(answer.json()["error"])
        assert error["code"] == code.upper()
        return {**error, "detail": error["message"]}
    if answer.request.url.path.startswith("/v1/"):  # the routes of the OpenAI face have the errors of its API
        assert answer.headers["content-type"] == "application/json"
        error = dict(answer.json()["error"])
        assert (set(error), error["code"]) == ({"message", "type", "param", "code"}, code)
        where = "body" if error["param"] is None else f"body.{error['param']}"
        return {**error, "detail": error["message"], "errors": [{"where": where, "what": error["message"]}]}
    if answer.request.url.path.startswith("/api/ai/"):  # the AI SDK shows the body as the message of its error
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["runyard-error"] == code
        return {"detail": answer.text, "errors": [{"where": "body", "what": answer.text}]}
    if answer.request.url.path.startswith("/api/ag-ui/"):  # errors of AG-UI are events
        event = dict(answer.json())
        assert (event["type"], event["code"]) == ("RUN_ERROR", code)
        return {**event, "detail": event["message"], "errors": [{"where": "body", "what": event["message"]}]}
    if answer.request.url.path == "/mcp":  # errors of MCP are those of JSON-RPC
        error = dict(answer.json()["error"])
        assert (answer.json()["jsonrpc"], error["data"]["code"]) == ("2.0", code)
        return {**error, "detail": error["message"], "errors": [{"where": "body", "what": error["message"]}]}
    if answer.request.url.path.startswith("/langgraph/"):  # errors of LangGraph have a detail, like those of FastAPI
        body = dict(answer.json())
        assert (set(body), body["code"]) == ({"detail", "code"}, code)
        return {**body, "errors": [{"where": "body", "what": body["detail"]}]}
    if answer.request.url.path.startswith("/a2a/"):
        return _of_a2a(answer, code)
    assert answer.headers["content-type"] == "application/problem+json"
    body = dict(answer.json())
    assert set(body) - {"errors"} == {"type", "title", "status", "code", "detail"}
    assert (body["type"], body["status"], body["code"]) == (f"urn:runyard:{code}", status, code)
    assert body["detail"].endswith((".", "URI", "resource"))
    return body


def _of_a2a(answer: httpx2.Response, code: str) -> dict[str, Any]:
    """Errors of A2A have a reason in their details, in both bindings."""
    error = dict(answer.json()["error"])
    [info, *_] = error["data"] if "data" in error else error["details"]
    assert info["metadata"] == {"code": code}
    return {**error, "detail": error["message"], "errors": [{"where": "body", "what": error["message"]}]}


@MEMORY
async def test_missing_objects_are_404(server: Server) -> None:
    for method, path in (
        ("GET", "/nothing"),
        ("GET", "/assets/nothing.js"),
        ("GET", f"/api/threads/{new_id()}"),
        ("DELETE", f"/api/threads/{new_id()}"),
        ("GET", f"/api/runs/{new_id()}/log"),
        ("POST", f"/api/runs/{new_id()}/retry"),
        ("GET", "/api/threads/"),
    ):
        problem(await server.http.request(method, path), 404, "not_found")


@MEMORY
async def test_a_method_that_a_path_does_not_have_is_405_and_says_which_it_has(server: Server) -> None:
    for method, path in (("PUT", "/api/threads"), ("DELETE", "/api/runs"), ("GET", f"/api/runs/{new_id()}/cancel")):
        answer = await server.http.request(method, path)
        problem(answer, 405, "method_not_allowed")
        assert answer.headers["allow"]


@MEMORY
async def test_a_conflict_is_409(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    problem(await server.http.post(f"/api/runs/{run_id}/retry"), 409, "run_active")


@MEMORY
async def test_a_request_that_does_not_fit_is_422_and_says_where(server: Server) -> None:
    thread_id = await server.thread()
    answer = await server.http.post(f"/api/threads/{thread_id}/messages", json={"agent": 1})
    body = problem(answer, 422, "invalid")
    assert {error["where"] for error in body["errors"]} == {"body.content", "body.agent"}
    assert all(set(error) == {"where", "what"} for error in body["errors"])


@MEMORY
async def test_a_request_that_cannot_be_read_is_400(server: Server) -> None:
    headers = {"content-type": "application/json"}
    problem(await server.http.post("/api/threads", content=b"{", headers=headers), 400, "not_json")
    run_id = await server.post("happy")
    problem(await server.http.get(f"/api/runs/{run_id}/events?after=x"), 400, "bad_request")


@MEMORY
async def test_a_body_over_the_limit_is_413(serve: Serve) -> None:
    server = await serve(max_body_bytes=100)
    problem(await server.http.post("/api/threads", json={"user_id": "x" * 100}), 413, "too_large")


class StoreThatGoesAway(MemoryStore):
    """Answers Unavailable to everything while it is `away`."""

    away = False


def _guarded(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def guarded(self: StoreThatGoesAway, *given: Any, **more: Any) -> Any:
        if self.away:
            raise Unavailable
        return await method(self, *given, **more)

    return guarded


for _name, _method in inspect.getmembers(MemoryStore, inspect.iscoroutinefunction):
    if not _name.startswith("_") and _name not in ("open", "close"):
        setattr(StoreThatGoesAway, _name, _guarded(_method))


async def test_without_the_database_every_request_is_503_and_may_be_sent_again(gate: Gate) -> None:
    store = StoreThatGoesAway(SystemClock())
    async with served(Settings(**QUICK), agents(gate), store, worker=False) as server:
        thread_id, run_id = await server.thread(), await server.post("happy")
        store.away = True
        for method, path in (
            ("GET", "/health"),
            ("GET", "/health/ready"),
            ("POST", "/api/threads"),
            ("GET", f"/api/threads/{thread_id}"),
            ("GET", "/api/threads"),
            ("DELETE", f"/api/threads/{thread_id}"),
            ("POST", f"/api/threads/{thread_id}/messages"),
            ("GET", f"/api/runs/{run_id}"),
            ("GET", f"/api/runs/{run_id}/events"),
            ("GET", f"/api/runs/{run_id}/log"),
            ("GET", f"/api/runs/{run_id}/state"),
            ("GET", "/api/runs"),
            ("POST", f"/api/runs/{run_id}/cancel"),
            ("POST", f"/api/runs/{run_id}/retry"),
            ("GET", "/api/approvals"),
            ("POST", "/api/approvals/x"),
        ):
            bodies = {"messages": {"content": "x"}, "x": {"decision": "approve"}}
            body = bodies.get(path.rpartition("/")[2])
            answer = await server.http.request(method, path, json=body)
            problem(answer, 503, "unavailable")
            assert answer.headers["retry-after"] == "1"
        store.away = False
        assert (await server.http.get("/health")).json()["status"] == "ok"


@MEMORY
async def test_a_process_that_drains_is_healthy_and_not_ready(server: Server) -> None:
    assert (await server.http.get("/health/ready")).json()["status"] == "ready"
    await server.process.drain(0)
    answer = await server.http.get("/health/ready")
    problem(answer, 503, "draining")
    assert (await server.http.get("/health")).status_code == 200


async def test_an_unexpected_error_is_500_without_details(gate: Gate) -> None:
    class BrokenStore(MemoryStore):
        async def list_runs(self, *given: object, **more: object) -> Any:
            raise ValueError(MARKER)

    async with served(Settings(**QUICK), agents(gate), BrokenStore(SystemClock())) as server:
        answer = await server.http.get("/api/runs")
        problem(answer, 500, "internal")
        assert MARKER not in answer.text


@pytest.fixture
def log_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """All log lines, ours and the libraries', as a process writes them."""
    root = logging.getLogger()
    handlers, level, written = list(root.handlers), root.level, io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", written)
        logs.configure("json", "debug")
    yield written
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def marked_requests(thread_id: str, run_id: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Requests that must fail, each with the marker in another place."""
    as_json = {"content-type": "application/json"}
    messages, runs = f"/api/threads/{thread_id}/messages", f"/api/runs/{run_id}"
    yield "GET", f"/{MARKER}", {}
    yield MARKER, "/api/threads", {}
    for path in ("/api/threads/{}", "/api/runs/{}", "/api/runs/{}/events", "/api/runs/{}/log", "/api/runs/{}/state"):
        yield "GET", path.format(MARKER), {}
        yield "GET", path.format(MARKER) + "/", {}
    yield "DELETE", f"/api/threads/{MARKER}", {}
    for path in (f"/api/runs/{MARKER}/cancel", f"/api/runs/{MARKER}/retry", f"/api/approvals/{MARKER}"):
        yield "POST", path, {"json": {"decision": "approve"}}
    for name in ("limit", "before", "status", "thread_id"):
        yield "GET", f"/api/runs?{name}={MARKER}", {}
    yield "GET", f"/api/runs?limit=0&{MARKER}={MARKER}", {}
    for name in ("after", "fromSeq"):
        yield "GET", f"{runs}/events?{name}={MARKER}", {}
    yield "GET", f"{runs}/state?at={MARKER}", {}
    yield "GET", f"{runs}/log", {"headers": {"Last-Event-ID": MARKER}}
    yield "POST", messages, {"json": {"content": "x"}, "headers": {"Idempotency-Key": MARKER * 50}}
    yield "POST", "/api/threads", {"json": {}, "headers": {"Idempotency-Key": MARKER * 50}}
    yield "POST", messages, {"content": MARKER.encode(), "headers": as_json}
    yield "POST", messages, {"content": MARKER.encode(), "headers": {"content-type": f"text/{MARKER}"}}
    yield "POST", messages, {"content": b'{"content":"' + MARKER.encode() * 200_000 + b'"}', "headers": as_json}
    for body in (
        {"content": [MARKER]},
        {"content": {MARKER: MARKER}},
        {"content": "", MARKER: MARKER},
        {"content": "x", "agent": MARKER},
        {"content": "x", "agent": [MARKER]},
        [MARKER],
        MARKER,
    ):
        yield "POST", messages, {"json": body}
    for user_id in ([MARKER], {MARKER: 1}):
        yield "POST", "/api/threads", {"json": {"user_id": user_id}}
    yield "POST", "/api/threads", {"json": {"agent": MARKER}}
    yield "POST", "/api/approvals/x", {"json": {"decision": MARKER}}
    yield "POST", "/api/approvals/x", {"json": {"decision": "approve", "input": MARKER}}
    yield "POST", "/api/approvals/x", {"json": {"decision": "approve", "reason": [MARKER]}}


@MEMORY
async def test_sent_content_is_in_no_error_and_in_no_log_line(log_lines: io.StringIO, server: Server) -> None:
    thread_id = await server.thread(user_id=MARKER)
    run_id = await server.post("raises", MARKER, thread_id)
    await server.ended(run_id)
    asked = 0
    for method, path, more in marked_requests(thread_id, run_id):
        headers = {"X-Marker": MARKER, "User-Agent": MARKER, "Cookie": f"a={MARKER}", **more.get("headers", {})}
        answer = await server.http.request(method, path, **{**more, "headers": headers})
        assert 400 <= answer.status_code < 500, (method, path, answer.status_code)
        assert MARKER not in answer.text, (method, path)
        assert MARKER not in str(answer.headers), (method, path)
        asked += 1
    assert asked > 40
    written = log_lines.getvalue()
    assert "run.finished" in written
    assert MARKER not in written


async def test_the_message_of_a_crash_is_in_no_log_line(log_lines: io.StringIO, gate: Gate) -> None:
    class BrokenStore(MemoryStore):
        async def list_runs(self, *given: object, **more: object) -> Any:
            raise ValueError(MARKER)

    async with served(Settings(**QUICK), agents(gate), BrokenStore(SystemClock())) as server:
        assert (await server.http.get("/api/runs")).status_code == 500
    written = log_lines.getvalue()
    assert "request.crashed" in written
    assert "ValueError" in written
    assert MARKER not in written
