"""A reader of the plans face resumes at any position and gets published events once, in order."""

import asyncio

import pytest

from tests.faces.plans.plans_client import REFERENCE, event_names, seen, start, stream_to_end
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import Frame

BAD = ["-1", "+1", "1.5", "abc", "0x1", "1e3", "1_0", "9" * 17, "9007199254740993", "null"]


@pytest.mark.req("S4.17", "S4.18", "S4.36", "S4.20")
async def test_from_any_seq_a_reader_gets_exactly_what_follows(server: Server) -> None:
    await start(server, "any", "device")
    whole = await server.whole_stream("/agents/runs/any/stream")
    assert event_names(whole) == REFERENCE, "from the beginning, if nothing is said"
    for n in range(14):
        rest = await stream_to_end(server, "any", n)
        assert rest.ids == list(range(n + 1, 14))
        assert whole.body.endswith(rest.body)


@pytest.mark.req("S4.36")
async def test_from_seq_3_a_reader_gets_4_to_the_end(server: Server) -> None:
    await start(server, "three", "device")
    await stream_to_end(server, "three")
    assert (await stream_to_end(server, "three", 3)).ids == list(range(4, 14))


@pytest.mark.req("S4.17")
@pytest.mark.parametrize("backend", ["memory"])
async def test_of_header_and_query_the_furthest_wins(server: Server) -> None:
    run_id = await start(server)
    await stream_to_end(server, run_id)
    for header, from_seq in [(5, 2), (2, 5), (5, 5), (5, None), (None, 5)]:
        query = "" if from_seq is None else f"?fromSeq={from_seq}"
        headers = {} if header is None else {"Last-Event-ID": str(header)}
        rest = await server.whole_stream(f"/agents/runs/{run_id}/stream{query}", headers)
        assert rest.ids == list(range(6, 14))


@pytest.mark.req("S4.17")
@pytest.mark.parametrize("name", ["Last-Event-ID", "fromSeq"])
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_place_that_is_not_a_seq_is_refused(server: Server, name: str) -> None:
    run_id = await start(server)
    for bad in BAD:
        given = {"headers": {name: bad}} if name == "Last-Event-ID" else {"params": {name: bad}}
        answer = await server.http.get(f"/agents/runs/{run_id}/stream", **given)  # type: ignore[arg-type]
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_request"), bad


@pytest.mark.req("S4.20")
async def test_at_or_past_the_end_of_a_finished_run_the_stream_closes_at_once(server: Server) -> None:
    run_id = await start(server)
    await stream_to_end(server, run_id)
    for place in (13, 14, 1000, 2**53):
        async with asyncio.timeout(5):
            rest = await stream_to_end(server, run_id, place)
        assert (rest.status, bytes(rest.body)) == (200, b"")


@pytest.mark.req("S4.20")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_stream_closes_at_once_while_another_client_still_reads(server: Server) -> None:
    run_id = await start(server)
    await stream_to_end(server, run_id)
    slow = server.process.streams.follow(run_id, 0, published=True)
    assert isinstance(await slow.next(5), list), "and is not at the end"
    async with asyncio.timeout(5):
        rest = await stream_to_end(server, run_id, 13)
    assert bytes(rest.body) == b""
    slow.close()


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
async def test_past_the_end_of_a_live_run_a_reader_waits_and_ends_with_it(serve: Serve, gate: Gate) -> None:
    server = await serve(heartbeat_seconds=0.02)
    run_id = await start(server, plan="gated_plan")
    await gate.until_reached()
    stream = await server.stream(f"/agents/runs/{run_id}/stream?fromSeq=1000")
    await stream.pings(2)
    gate.open.set()
    await stream.to_end()
    assert (stream.frames, stream.ended_cleanly) == ([], True)


@pytest.mark.req("S4.38", "S4.19")
async def test_a_reader_that_drops_at_every_event_of_a_live_run_misses_nothing(server: Server, gate: Gate) -> None:
    run_id = await start(server, plan="gated_plan")
    gate.open.set()
    frames: list[Frame] = []
    while not frames or frames[-1].json["type"] != "RunFinished":
        stream = await server.stream(f"/agents/runs/{run_id}/stream?fromSeq={len(frames)}")
        await stream.first_frame()
        frames.append(stream.frames[0])
        await stream.close()
    assert frames == (await stream_to_end(server, run_id)).frames


@pytest.mark.req("S4.38")
@pytest.mark.parametrize("left_at", [3, 5])
async def test_a_reader_that_left_in_the_middle_comes_back_and_gets_the_rest(
    server: Server, gate: Gate, left_at: int
) -> None:
    run_id = await start(server, plan="gated_plan")
    first = await server.stream(f"/agents/runs/{run_id}/stream")
    await first.until(lambda: len(first.frames) >= left_at)
    await first.close()
    back = await server.stream(f"/agents/runs/{run_id}/stream?fromSeq={left_at}")
    await back.until(lambda: len(back.frames) >= 7 - left_at)
    gate.open.set()
    await back.to_end()
    assert back.ids == list(range(left_at + 1, 14))
    assert (await seen(server, run_id))["state"] == "finished", "a dropped connection has nothing to do with the run"


# --- two faces of one run --------------------------------------------------------------------------------------------


async def test_a_run_of_a_thread_is_followed_here_while_others_follow_it_there(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    streams = [
        await server.stream(path)
        for path in (f"/agents/runs/{run_id}/stream", f"/api/runs/{run_id}/events", f"/api/runs/{run_id}/log")
    ]
    gate.open.set()
    for stream in streams:
        await stream.to_end()
    plans, threads, native = streams
    assert event_names(plans) == [
        "RunStarted",
        "DebugTrace model.token",
        "DebugTrace model.token",
        "DebugTrace run.output",
        "RunFinished",
    ]
    assert plans.ids == native.ids == [1, *threads.ids]


async def test_a_run_of_a_plan_is_followed_there_by_the_servers_id(server: Server) -> None:
    await start(server, "both", "device")
    server_id = (await seen(server, "both"))["serverRunId"]
    here, by_id = await stream_to_end(server, "both"), await stream_to_end(server, server_id)
    assert here.body == by_id.body
    native = await server.whole_stream(f"/api/runs/{server_id}/log")
    assert native.ids == here.ids
    assert native.events == ["run.queued", "step.started", "trace", *native.events[3:-1], "run.finished"]
    assert (await server.ended(server_id)).wire == [("state", {"status": "done"})]
    assert (await server.run(server_id))["thread_id"] is None
