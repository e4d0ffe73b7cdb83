"""Slow, stuck or disconnected readers have a bounded cost and do not affect other clients. And how streams end when
the process does."""

import asyncio
import socket
from typing import Any

import pytest

from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.engine.log import stream as engine_stream
from runyard.web.streaming import sse
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

MEMORY = pytest.mark.parametrize("backend", ["memory"])
TOKENS = 20_000
FACES = ["events", "log"]


def flood() -> App:
    """An agent whose log is far larger than what a socket holds."""
    script: list[dict[str, Any]] = [{"tokens": ["x" * 200] * TOKENS}, {"output": {"text": "done"}}]
    small: list[dict[str, Any]] = [{"token": "a"}]
    agents = [scripted("flood", script), scripted("small", small)]
    return App({agent.name: agent for agent in agents}, {}, "flood")


def buffered(server: Server) -> int:
    """The bytes that the server holds for readers that do not take them."""
    return sum(connection.transport.get_write_buffer_size() for connection in server.uvicorn.server_state.connections)


@MEMORY
@pytest.mark.parametrize("path", FACES)
async def test_a_stuck_reader_costs_one_batch_and_no_other_reader_notices(serve: Serve, path: str) -> None:
    server = await serve(flood())
    run_id = await server.post("flood")
    stuck = [await server.stream(f"/api/runs/{run_id}/{path}", receive_buffer=4096) for _ in range(5)]
    other = await server.whole_stream(f"/api/runs/{run_id}/{path}")
    assert (other.ended_cleanly, other.events.count("token") + other.events.count("model.token")) == (True, TOKENS)
    per_reader = 4 * engine_stream.BATCH_BYTES
    assert len(other.body) > per_reader
    assert buffered(server) <= len(stuck) * per_reader
    assert (await server.ended(await server.post("small"))).events == ["token", "final", "state"]
    for reader in stuck:
        await reader.close()


@MEMORY
async def test_a_slow_reader_gets_everything_in_the_end(serve: Serve) -> None:
    server = await serve(flood())
    run_id = await server.post("flood")
    slow = await server.stream(f"/api/runs/{run_id}/events", receive_buffer=4096)
    fast = await server.ended(run_id)
    await slow.to_end()
    assert slow.ended_cleanly
    assert slow.body == fast.body


@MEMORY
async def test_a_reader_that_is_stuck_for_too_long_is_let_go(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "STALL_SECONDS", 0.05)
    server = await serve(flood())
    run_id = await server.post("flood")
    stuck = await server.stream(f"/api/runs/{run_id}/events", receive_buffer=4096)
    watcher = await server.stream(f"/api/runs/{run_id}/log")
    await watcher.to_end()
    async with asyncio.timeout(PATIENCE):
        while server.process.tail.wakeups.runs or buffered(server):
            await server.http.get("/health")
    assert (await server.http.get("/health")).status_code == 200, "before it reads anything, it is gone"
    assert len(server.uvicorn.server_state.connections) <= 2, "of the watcher and of our own requests"
    await stuck.to_end()
    assert (stuck.was_cut, stuck.ended_cleanly) == (True, False)
    await stuck.close()


@pytest.mark.parametrize("path", FACES)
async def test_a_shutdown_cuts_the_streams_of_runs_that_go_on(server: Server, gate: Gate, path: str) -> None:
    """A clean end would tell the client that the run is over."""
    run_id = await server.post("gated")
    live = await server.stream(f"/api/runs/{run_id}/{path}")
    await live.first_frame()
    done = await server.whole_stream(f"/api/runs/{await server.post('happy')}/{path}")
    await server.process.drain(0)
    await live.to_end()
    assert (live.was_cut, live.ended_cleanly) == (True, False)
    assert (done.was_cut, done.ended_cleanly) == (False, True)


@MEMORY
@pytest.mark.parametrize("path", FACES)
async def test_a_stream_that_is_opened_after_the_cut_is_cut_too(server: Server, path: str) -> None:
    run_id = await server.post("silent")
    await server.process.drain(0)
    late = await server.stream(f"/api/runs/{run_id}/{path}")
    await late.to_end()
    assert (late.was_cut, late.ended_cleanly) == (True, False)


@MEMORY
async def test_a_run_that_ends_while_the_process_drains_ends_its_streams_cleanly(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    stream = await server.stream(f"/api/runs/{run_id}/events")
    await stream.first_frame()
    draining = asyncio.create_task(server.process.drain(20))
    gate.open.set()
    await stream.to_end()
    await draining
    assert (stream.ended_cleanly, stream.wire[-1]) == (True, ("state", {"status": "done"}))


@MEMORY
async def test_many_readers_of_one_run_get_the_same_bytes(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    streams = [await server.stream(f"/api/runs/{run_id}/events") for _ in range(30)]
    gate.open.set()
    await asyncio.gather(*(stream.to_end() for stream in streams))
    assert len({bytes(stream.body) for stream in streams}) == 1
    assert all(stream.ended_cleanly for stream in streams)
    assert server.process.tail.wakeups.runs == set()


@MEMORY
async def test_a_reader_that_resets_its_connection_is_gone(serve: Serve) -> None:
    server = await serve(heartbeat_seconds=0.02)
    run_id = await server.post("silent")
    stream = await server.stream(f"/api/runs/{run_id}/log")
    await stream.first_frame()
    reset(stream)
    async with asyncio.timeout(PATIENCE):
        while server.process.tail.wakeups.runs:
            await server.http.get("/health")
    assert (await server.run(run_id))["status"] in ("queued", "running")


def reset(stream: RawStream) -> None:
    """End the connection with an RST, as a machine that went away does."""
    raw = stream.socket
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    stream.abort()
