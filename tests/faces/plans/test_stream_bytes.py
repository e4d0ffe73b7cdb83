"""Streams of the plans face, byte for byte."""

import re
from pathlib import Path

import msgspec
import pytest

from runyard.settings import Settings
from tests.faces.plans.plans_client import REFERENCE, event_names, seen, start, stream_to_end, without_times
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

GOLDEN = Path(__file__).parent / "golden"
FIELDS = ["runId", "seq", "ts", "type", "v", "source"]


async def transcript(server: Server, gate: Gate, name: str) -> RawStream:
    """A run named `golden` that ends as the golden file of that name tells."""
    if name != "cancelled":
        return await stream_to_end(server, await start(server, "golden", name))
    await start(server, "golden", "gated_plan")
    await gate.until_reached()
    await server.http.post("/agents/runs/golden/cancel")
    return await stream_to_end(server, "golden")


@pytest.mark.req("S4.41", "S4.5", "S4.22", "S4.23", "S4.47")
@pytest.mark.parametrize("name", ["device", "failing_plan", "slow_plan", "cancelled"])
async def test_a_transcript_is_what_it_always_was(server: Server, gate: Gate, name: str) -> None:
    stream = await transcript(server, gate, name)
    assert without_times(bytes(stream.body)) == (GOLDEN / f"{name}.sse").read_bytes()


@pytest.mark.req("S4.39", "S4.41", "S4.46")
async def test_the_reference_plan_is_thirteen_events(server: Server) -> None:
    stream = await stream_to_end(server, await start(server, plan="device"))
    assert event_names(stream) == REFERENCE
    assert stream.ids == list(range(1, 14))


@pytest.mark.req("S4.2", "S4.6", "S4.11")
async def test_a_frame_has_the_columns_of_its_row_and_says_who_published_it(server: Server) -> None:
    stream = await stream_to_end(server, await start(server, "columns", "device"))
    rows = await server.store.read((await seen(server, "columns"))["serverRunId"], 0, 100)
    assert [row.source for row in rows] == ["api"] + 12 * ["worker"]
    for frame, row in zip(stream.frames, rows, strict=True):
        event = frame.json
        assert (event["seq"], event["ts"], event["v"], event["source"]) == (row.seq, row.ts, 1, "outbox")
        assert (event.get("name"), event.get("fn")) == (row.name, row.fn)


@pytest.mark.req("S4.22", "S4.6")
@pytest.mark.parametrize("agent", ["device", "failing_plan", "happy", "everything", "raises", "gated", "mails"])
@pytest.mark.parametrize("backend", ["memory"])
async def test_no_stream_has_another_field_or_a_word_of_content(server: Server, gate: Gate, agent: str) -> None:
    """Also the runs of agents that talk, started in a thread, whose frames have more to say elsewhere."""
    gate.open.set()
    run_id = await start(server, plan=agent) if "plan" in agent or agent == "device" else await server.post(agent)
    if agent == "mails":
        await server.http.post(f"/api/approvals/{await server.waiting(run_id)}", json={"decision": "reject"})
    stream = await stream_to_end(server, run_id)
    assert stream.ids == list(range(1, len(stream.ids) + 1)), "every event has an image, so no seq is missing"
    for frame in stream.frames:
        event = frame.json
        more = {"NodeStarted": ["name"], "NodeFinished": ["name"], "DebugTrace": ["fn"]}.get(event["type"], [])
        assert list(event) == FIELDS + more
    for word in (SECRET, "ValueError", "Ada ", "before ", "cv_001", "ann", "hello"):
        assert word.encode() not in stream.body


@pytest.mark.req("S4.41")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_stream_has_the_headers_and_the_three_lines_of_every_stream(server: Server) -> None:
    run_id = await start(server)
    for from_seq in (0, 100):
        stream = await stream_to_end(server, run_id, from_seq)
        assert stream.status == 200
        assert stream.header("content-type") == ["text/event-stream; charset=utf-8"]
        assert stream.header("cache-control") == ["no-cache"]
        assert stream.header("x-accel-buffering") == ["no"]
        assert b"\r" not in stream.body
        for block in stream.blocks:
            assert re.fullmatch(rb"id: \d+\nevent: message\ndata: \{[^\n]*\}", block)


@pytest.mark.req("S4.21")
@pytest.mark.parametrize("backend", ["memory", "sqlite"])  # 20 ms would cut off reads of a distant database
async def test_a_heartbeat_is_a_comment_that_counts_for_nothing(serve: Serve, gate: Gate) -> None:
    server = await serve(heartbeat_seconds=0.02)
    run_id = await start(server, plan="gated_plan")
    stream = await server.stream(f"/agents/runs/{run_id}/stream")
    await stream.until(lambda: len(stream.frames) >= 7)
    await stream.pings(3)
    gate.open.set()
    await stream.to_end()
    assert set(stream.comments) == {b": ping"}
    assert stream.ids == list(range(1, 14))
    assert msgspec.json.decode(stream.frames[-1].data)["type"] == "RunFinished"


@pytest.mark.req("S4.21")
def test_a_heartbeat_comes_every_fifteen_seconds_unless_the_settings_say_otherwise() -> None:
    assert Settings().heartbeat_seconds == 15


@pytest.mark.req("S4.34", "S4.47", "S4.15")
async def test_two_runs_at_once_each_have_their_own_thirteen_events(server: Server) -> None:
    names = ["one", "two"]
    streams = [await server.stream(f"/agents/runs/{await start(server, name, 'device')}/stream") for name in names]
    for name, stream in zip(names, streams, strict=True):
        await stream.to_end()
        assert event_names(stream) == REFERENCE
        assert {frame.json["runId"] for frame in stream.frames} == {name}
        assert [frame.json["seq"] for frame in stream.frames] == stream.ids == list(range(1, 14))
