"""The stream of every third-party client has heartbeats, may be left without an effect on its run, and is cut by a
shutdown: a clean end would tell the client that the answer is complete."""

import asyncio
from uuid import uuid4

import pytest

import runyard
from runyard.agents.declared.loading import App
from tests.faces.samples.requests_of_faces import REQUESTS
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

FACES = pytest.mark.parametrize("face", REQUESTS)
pytestmark = pytest.mark.parametrize("backend", ["memory"])
HEADERS = {"Accept": "application/json, text/event-stream", "A2A-Version": "1.0"}


@runyard.agent
async def slow(ctx: runyard.Context) -> str:
    await ctx.token("one")
    await asyncio.Event().wait()
    return "two"


APP = App({"slow": slow}, {}, "slow")


async def opened(server: Server, face: str) -> RawStream:
    path, body = REQUESTS[face]("slow", str(uuid4()))
    stream = await RawStream.open(server.port, path, HEADERS, body=body)
    assert stream.status == 200
    return stream


async def only_run(server: Server) -> str:
    [run] = (await server.http.get("/api/runs")).json()["runs"]
    return str(run["run_id"])


@FACES
async def test_a_silent_stream_has_heartbeats_and_its_run_continues_without_it(face: str, serve: Serve) -> None:
    server = await serve(APP, heartbeat_seconds=0.05)
    stream = await opened(server, face)
    await stream.until(lambda: stream.body.count(b": ping\n") >= 2)
    stream.abort()
    run_id = await only_run(server)

    async def is_left() -> bool:
        return not server.process.tail.wakeups.has(run_id)

    await eventually("the server has noticed", is_left)
    assert (await server.run(run_id))["status"] == "running"


@FACES
async def test_a_shutdown_cuts_the_stream(face: str, serve: Serve) -> None:
    server = await serve(APP)
    stream = await opened(server, face)
    await stream.until(lambda: bool(stream.body))
    await server.process.drain(0)
    await stream.to_end()
    assert (stream.was_cut, stream.ended_cleanly) == (True, False)
