"""A reader resumes at any position, named in any way, without a gap or a duplicate."""

import asyncio
import itertools

import pytest

from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import Frame

FACES = ["events", "log"]
BAD = ["-1", "+1", "1.5", "abc", "0x1", "1e3", "1_0", "٣", "9" * 17, "9007199254740993", "9" * 5000, "null", "1;2"]


@pytest.mark.req("S0.17", "S0.25")
@pytest.mark.parametrize("path", FACES)
async def test_a_stream_resumes_at_any_seq_with_exactly_what_follows(server: Server, path: str) -> None:
    run_id = await server.post("everything")
    whole = await server.whole_stream(f"/api/runs/{run_id}/{path}")
    assert whole.ids == sorted(set(whole.ids))
    for n in range(whole.ids[-1]):
        rest = await server.whole_stream(f"/api/runs/{run_id}/{path}", {"Last-Event-ID": str(n)})
        assert rest.frames == [frame for frame in whole.frames if frame.id > n]
        assert whole.body.endswith(rest.body)
        assert rest.ended_cleanly


@pytest.mark.req("S0.17")
async def test_a_reader_that_drops_at_every_event_of_a_live_run_misses_nothing(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    gate.open.set()
    frames: list[Frame] = []
    cursor = 0
    while not frames or frames[-1].event != "state":
        stream = await server.stream(f"/api/runs/{run_id}/events", {"Last-Event-ID": str(cursor)})
        await stream.first_frame()
        frames.append(stream.frames[0])
        cursor = frames[-1].id
        await stream.close()
    assert frames == (await server.ended(run_id)).frames


@pytest.mark.req("S0.17", "S4.40")
@pytest.mark.parametrize("path", FACES)
@pytest.mark.parametrize("backend", ["memory"])
async def test_of_several_places_the_furthest_wins(server: Server, path: str) -> None:
    run_id = await server.post("everything")
    whole = await server.whole_stream(f"/api/runs/{run_id}/{path}")
    for header, from_seq, after in [(2, 5, 3), (5, 2, 3), (2, 3, 5), (5, 5, 5), (0, 5, 0), (None, 5, 0), (5, 0, None)]:
        given = {"fromSeq": from_seq, "after": after}
        query = "&".join(f"{name}={value}" for name, value in given.items() if value is not None)
        headers = {} if header is None else {"Last-Event-ID": str(header)}
        rest = await server.whole_stream(f"/api/runs/{run_id}/{path}?{query}", headers)
        assert rest.frames == [frame for frame in whole.frames if frame.id > 5]


@pytest.mark.req("S0.17")
@pytest.mark.parametrize("name", ["Last-Event-ID", "fromSeq", "after"])
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_place_that_is_not_a_seq_is_refused_without_repeating_it(server: Server, name: str) -> None:
    run_id = await server.post("happy")
    for path, bad in itertools.product(FACES, BAD):
        if name == "Last-Event-ID":
            if not bad.isascii():
                continue
            answer = await server.http.get(f"/api/runs/{run_id}/{path}", headers={name: bad})
        else:
            answer = await server.http.get(f"/api/runs/{run_id}/{path}", params={name: bad})
        assert answer.status_code == 400, bad
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "bad_request"
        assert len(bad) < 3 or bad not in answer.text


@pytest.mark.req("S0.17")
@pytest.mark.parametrize("backend", ["memory"])
async def test_an_empty_last_event_id_is_none(server: Server) -> None:
    """An EventSource that has seen no id sends an empty one, or none at all."""
    run_id = await server.post("happy")
    whole = await server.ended(run_id)
    empty = await server.whole_stream(f"/api/runs/{run_id}/events?fromSeq=&after=", {"Last-Event-ID": ""})
    assert empty.body == whole.body
    zeros = await server.whole_stream(f"/api/runs/{run_id}/events?fromSeq=0", {"Last-Event-ID": "0000"})
    assert zeros.body == whole.body


@pytest.mark.req("S0.17")
@pytest.mark.parametrize("path", FACES)
async def test_a_cursor_at_or_past_the_end_of_a_finished_run_ends_at_once(server: Server, path: str) -> None:
    run_id = await server.post("happy")
    last = (await server.ended(run_id)).ids[-1]
    for place in (last, last + 1, last + 1000, 2**53):
        rest = await server.http.get(f"/api/runs/{run_id}/{path}", headers={"Last-Event-ID": str(place)})
        assert (rest.status_code, rest.content) == (204, b""), "after a 200 an EventSource would reconnect"


@pytest.mark.req("S0.17")
@pytest.mark.parametrize("path", FACES)
async def test_a_place_beyond_the_end_of_a_live_run_waits_and_ends_with_it(serve: Serve, gate: Gate, path: str) -> None:
    server = await serve(heartbeat_seconds=0.02)
    run_id = await server.post("gated")
    await gate.until_reached()
    stream = await server.stream(f"/api/runs/{run_id}/{path}", {"Last-Event-ID": "1000"})
    await stream.pings(2)
    gate.open.set()
    await stream.to_end()
    assert (stream.frames, stream.ended_cleanly) == ([], True)


async def test_the_state_event_is_stored_and_sent_before_a_stream_ends(server: Server, gate: Gate) -> None:
    """The origin closed streams on a terminal status, before the last event was stored, and made up an id for it."""
    run_id = await server.post("gated")
    stream = await server.stream(f"/api/runs/{run_id}/events")
    await stream.frames_to("token")
    gate.open.set()
    await stream.to_end()
    assert (stream.events[-1], stream.ended_cleanly) == ("state", True)
    log = await server.log(run_id)
    assert stream.ids == [entry["seq"] for entry in log[1:]]
    assert (log[-1]["type"], log[-1]["seq"]) == ("run.finished", stream.ids[-1])
    before_the_end = {"Last-Event-ID": str(stream.ids[-1] - 1)}
    rest = await server.whole_stream(f"/api/runs/{run_id}/events", before_the_end)
    assert rest.wire == [("state", {"status": "done"})]


async def test_a_client_that_sees_a_terminal_status_finds_the_state_event(server: Server) -> None:
    run_ids = [await server.post("everything") for _ in range(5)]
    left = set(run_ids)
    while left:
        for run_id in list(left):
            if (await server.run(run_id))["status"] == "done":
                left.discard(run_id)
                stored = await server.store.read(run_id, 0, 1000)
                assert stored[-1].type == "run.finished"


@pytest.mark.req("S0.37")
async def test_a_dropped_connection_does_not_touch_the_run(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    streams = [await server.stream(f"/api/runs/{run_id}/{path}") for path in FACES * 3]
    for stream in streams:
        await stream.first_frame()
        await stream.close()
    assert gate.stopped == []
    assert (await server.run(run_id))["status"] == "running"
    gate.open.set()
    assert (await server.ended(run_id)).wire[-1] == ("state", {"status": "done"})


@pytest.mark.req("S0.37")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_dropped_reader_leaves_nothing_behind(serve: Serve, gate: Gate) -> None:
    server = await serve(heartbeat_seconds=0.02)
    run_id = await server.post("gated")
    gone = await server.stream(f"/api/runs/{run_id}/events")
    await gone.frames_to("token")
    assert server.process.tail.wakeups.runs == {run_id}
    await gone.close()
    other = await server.stream(f"/api/runs/{await server.post('silent')}/events")
    async with asyncio.timeout(20):
        while run_id in server.process.tail.wakeups.runs:
            await other.pings(1)
    await other.close()
