"""Streams of the threads face, byte for byte."""

import asyncio
from pathlib import Path
from typing import Any, get_args

import pytest

from runyard.faces.threads.wire import EventName
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

GOLDEN = Path(__file__).parent / "golden"
TYPES = {"token", "tool_start", "tool_end", "final", "error", "canceled", "state"}  # and the heartbeat, a comment


async def transcript(server: Server, gate: Gate, name: str) -> RawStream:
    """A run that ends as the golden file of that name tells."""
    if name != "canceled":
        return await server.ended(await server.post(name))
    run_id = await server.post("gated")
    await gate.until_reached()
    await server.http.post(f"/api/runs/{run_id}/cancel")
    return await server.ended(run_id)


@pytest.mark.req("S0.5", "S0.16", "S0.15", "S0.30", "S0.31", "S0.23")
@pytest.mark.parametrize("name", ["happy", "fails", "canceled", "everything"])
async def test_a_transcript_is_what_it_always_was(server: Server, gate: Gate, name: str) -> None:
    stream = await transcript(server, gate, name)
    assert bytes(stream.body) == (GOLDEN / f"{name}.sse").read_bytes()


@pytest.mark.req("S0.5", "S1.2")
@pytest.mark.parametrize("path", ["events", "log"])
@pytest.mark.parametrize("backend", ["memory"])
async def test_every_stream_has_the_headers_that_keep_proxies_from_holding_it_back(server: Server, path: str) -> None:
    run_id = await server.post("happy")
    for after in (0, 100):
        stream = await server.whole_stream(f"/api/runs/{run_id}/{path}?after={after}")
        assert stream.status == 200
        assert stream.header("content-type") == ["text/event-stream; charset=utf-8"]
        assert stream.header("cache-control") == ["no-cache"]
        assert stream.header("connection") == ["keep-alive"]
        assert stream.header("x-accel-buffering") == ["no"]
        assert stream.header("content-length") == []
        assert stream.header("content-encoding") == []


@pytest.mark.req("S0.16")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_stream_has_line_feeds_only_and_three_lines_to_a_message(server: Server) -> None:
    stream = await server.ended(await server.post("happy"))
    assert b"\r" not in stream.body
    assert stream.body.endswith(b"\n\n")
    for block in stream.blocks:
        assert [line.split(b": ")[0] for line in block.split(b"\n")] == [b"id", b"event", b"data"]


@pytest.mark.req("S0.13")
@pytest.mark.parametrize("backend", ["memory"])
async def test_the_types_of_events_are_exactly_those_of_the_contract(server: Server, gate: Gate) -> None:
    assert set(get_args(EventName)) == TYPES
    names: set[str] = set()
    for name in ("happy", "fails", "canceled", "everything"):
        names |= set((await transcript(server, gate, name)).events)
    asking = await server.post("asks")
    approval_id = await asyncio.wait_for(server.waiting(asking), PATIENCE)
    await server.http.post(f"/api/approvals/{approval_id}", json={"decision": "approve"})
    names |= set((await server.ended(asking)).events)
    assert names == TYPES


@pytest.mark.req("S0.15", "S0.29", "S0.22")
async def test_the_happy_path_has_the_order_of_the_contract(server: Server) -> None:
    stream = await server.ended(await server.post("happy"))
    assert stream.events == ["tool_start", "tool_end", "token", "token", "token", "final", "state"]
    assert stream.wire[-1] == ("state", {"status": "done"})


@pytest.mark.req("S0.18", "S0.21", "S0.32")
@pytest.mark.parametrize("agent", ["happy", "everything", "flood"])
async def test_the_tokens_are_increments_that_add_up_to_the_final_text(server: Server, agent: str) -> None:
    stream = await server.ended(await server.post(agent))
    tokens = [data for event, data in stream.wire if event == "token"]
    assert len(tokens) >= 2
    assert all(list(token) == ["text"] and isinstance(token["text"], str) for token in tokens)
    [final] = [data for event, data in stream.wire if event == "final"]
    assert "".join(token["text"] for token in tokens) == final["text"]


@pytest.mark.req("S0.32")
async def test_a_token_is_sent_when_it_is_written_not_when_the_answer_is_whole(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    stream = await server.stream(f"/api/runs/{run_id}/events")
    await stream.frames_to("token")
    assert stream.wire == [("token", {"text": "before "})]
    assert (await server.run(run_id))["status"] == "running"
    gate.open.set()
    await stream.to_end()
    assert stream.wire[1:3] == [("token", {"text": "after"}), ("final", {"text": "before after", "sources": []})]


@pytest.mark.req("S0.19", "S0.20")
@pytest.mark.parametrize("backend", ["memory"])
async def test_tool_data_is_always_an_object(server: Server) -> None:
    stream = await server.ended(await server.post("everything"))
    tools = [(event, data) for event, data in stream.wire if event.startswith("tool")]
    assert tools == [
        ("tool_start", {"tool": "list", "input": {}}),
        ("tool_end", {"tool": "list", "output": {"result": [1, 2]}}),
        ("tool_start", {"tool": "text", "input": {}}),
        ("tool_end", {"tool": "text", "output": {"result": "plain"}}),
        ("tool_start", {"tool": "nothing", "input": {}}),
        ("tool_end", {"tool": "nothing", "output": {"result": None}}),
    ]


@pytest.mark.req("S0.21")
@pytest.mark.parametrize(("agent", "sources"), [("happy", ["cv_001", "cv_007"]), ("everything", []), ("whole", [])])
@pytest.mark.parametrize("backend", ["memory"])
async def test_the_final_event_names_the_sources_or_an_empty_list(
    server: Server, agent: str, sources: list[str]
) -> None:
    stream = await server.ended(await server.post(agent))
    [final] = [data for event, data in stream.wire if event == "final"]
    assert list(final) == ["text", "sources"]
    assert final["sources"] == sources


@pytest.mark.req("S0.22", "S0.30")
@pytest.mark.parametrize(
    ("name", "status"), [("happy", "done"), ("fails", "error"), ("raises", "error"), ("canceled", "canceled")]
)
async def test_a_state_event_comes_last_and_once_however_a_run_ends(
    server: Server, gate: Gate, name: str, status: str
) -> None:
    stream = await transcript(server, gate, name)
    assert stream.events.count("state") == 1
    assert stream.wire[-1] == ("state", {"status": status})


@pytest.mark.req("S0.31", "S0.23")
async def test_a_failure_is_told_and_then_the_state_and_kept_on_the_run(server: Server) -> None:
    run_id = await server.post("fails")
    stream = await server.ended(run_id)
    assert stream.wire == [
        ("token", {"text": "I will "}),
        ("error", {"error": "The script broke."}),
        ("state", {"status": "error"}),
    ]
    run = await server.run(run_id)
    assert (run["status"], run["error"]) == ("error", "The script broke.")


@pytest.mark.req("S0.31")
@pytest.mark.parametrize("backend", ["memory"])
async def test_an_error_of_an_agent_shows_its_class_and_never_its_text(server: Server) -> None:
    run_id = await server.post("raises")
    stream = await server.ended(run_id)
    assert stream.wire[-2] == ("error", {"error": "The agent failed with ValueError."})
    assert SECRET.encode() not in stream.body
    assert SECRET not in str(await server.run(run_id))
    *others, error, finished = await server.log(run_id)
    assert SECRET in error["data"].pop("traceback"), "its owner reads the traceback in the log, and nowhere else"
    assert SECRET not in str([*others, error, finished])


@pytest.mark.req("S0.24")
async def test_a_heartbeat_is_a_comment_that_counts_for_nothing(serve: Serve, gate: Gate) -> None:
    server = await serve(heartbeat_seconds=0.02)
    run_id = await server.post("gated")
    stream = await server.stream(f"/api/runs/{run_id}/events")
    await stream.frames_to("token")
    await stream.pings(3)
    gate.open.set()
    await stream.to_end()
    assert set(stream.comments) == {b": ping"}
    assert b": ping\n\n: ping\n\n" in stream.body
    beats = len(stream.comments)
    log = await server.log(run_id)
    assert stream.ids == [entry["seq"] for entry in log if entry["type"] != "run.queued"]
    assert len(bytes(stream.body).replace(b": ping\n\n", b"")) + beats * len(b": ping\n\n") == len(stream.body)
    assert "ping" not in str(log)


@pytest.mark.req("S0.24")
@pytest.mark.parametrize("path", ["events", "log"])
@pytest.mark.parametrize("backend", ["memory"])
async def test_the_stream_of_a_run_without_a_worker_has_heartbeats(serve: Serve, path: str) -> None:
    server = await serve(worker=False, heartbeat_seconds=0.02)
    stream = await server.stream(f"/api/runs/{await server.post('happy')}/{path}")
    await stream.pings(3)
    assert stream.events == ([] if path == "events" else ["run.queued"])
    await stream.close()


@pytest.mark.req("S0.42")
async def test_the_same_input_gives_the_same_events_every_time(server: Server) -> None:
    seen: list[list[tuple[str, Any]]] = []
    for _ in range(3):
        stream = await server.ended(await server.post("happy", "the same"))
        seen.append(stream.wire)
        assert stream.ids == [2, 3, 4, 5, 6, 7, 8]
    assert seen[0] == seen[1] == seen[2]
