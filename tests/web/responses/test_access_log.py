"""Every request writes one log line: its route, and none of its content."""

import io
import json
import sys
from collections.abc import Iterator

import pytest

from runyard.telemetry import logs
from tests.support.in_process.live_server import Serve, Server
from tests.web.responses.test_problems import MARKER, MEMORY


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    text = io.StringIO()
    monkeypatch.setattr(sys, "stderr", text)
    logs.configure("json", "info")
    yield text
    monkeypatch.undo()
    logs.configure("console", "error")


def lines(written: io.StringIO, action: str) -> list[dict[str, object]]:
    every = [json.loads(line) for line in written.getvalue().splitlines()]
    return [line for line in every if line["action"] == action]


@MEMORY
@pytest.mark.req("S2.23")
async def test_a_request_leaves_a_line_with_its_route_and_without_what_was_sent(
    server: Server, written: io.StringIO
) -> None:
    await server.http.get(f"/api/runs/{MARKER}?q={MARKER}")
    await server.http.get(f"/{MARKER}?q={MARKER}")
    answer = await server.http.get(f"/api/runs/{MARKER}/log?q={MARKER}", headers={"X-Request-ID": MARKER})
    assert MARKER not in written.getvalue()
    found = lines(written, "request.finished")
    routes = ["/api/runs/{run_id}", "none", "/api/runs/{run_id}/log"]
    assert [(line["method"], line["route"], line["status"]) for line in found] == [
        ("GET", each, status) for each, status in zip(routes, (422, 404, 422), strict=True)
    ]
    assert all(isinstance(line["ms"], float) for line in found)
    assert answer.headers["x-request-id"] == found[-1]["request_id"]


@MEMORY
async def test_the_lines_of_a_run_name_it_and_the_request_that_started_it(server: Server, written: io.StringIO) -> None:
    thread_id = await server.thread()
    body = {"content": MARKER, "agent": "happy"}
    answer = await server.http.post(f"/api/threads/{thread_id}/messages", json=body)
    run_id = answer.json()["run_id"]
    await server.ended(run_id)
    [finished] = lines(written, "run.finished")
    assert (finished["run_id"], finished["request_id"]) == (run_id, answer.headers["x-request-id"])
    await server.http.get("/health")  # by then the line of the stream is written
    done = lines(written, "request.finished")
    assert ("POST", "/api/threads/{thread_id}/messages") in [(line["method"], line["route"]) for line in done]
    streamed = [line for line in done if line["route"] == "/api/runs/{run_id}/events"]
    assert [(line["run_id"], line["status"]) for line in streamed] == [(run_id, 200)]
    assert MARKER not in written.getvalue()


@MEMORY
async def test_whose_key_it_was_is_in_the_line(serve: Serve, written: io.StringIO) -> None:
    server = await serve(keys=True)
    key = await server.key("ann")
    await server.http.get("/api/runs", headers={"X-API-Key": key})
    await server.http.get("/api/runs")
    found = [(line.get("owner"), line["status"]) for line in lines(written, "request.finished")]
    assert found == [("ann", 200), (None, 401)]
    assert key not in written.getvalue()


@MEMORY
async def test_the_access_log_can_be_switched_off(serve: Serve, written: io.StringIO) -> None:
    server = await serve(access_log=False)
    assert "x-request-id" not in (await server.http.get("/health")).headers
    assert lines(written, "request.finished") == []
