"""Clients of different protocols follow one live run, and any of them may answer or cancel what another one began."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

import runyard
from runyard.agents.declared.loading import App
from tests.faces.every.test_streams_of_clients import HEADERS, only_run
from tests.faces.samples.requests_of_faces import REQUESTS
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

pytestmark = pytest.mark.parametrize("face", REQUESTS)


class Speaker:
    """An app whose agent says one word, waits until it is released, and says another one."""

    def __init__(self) -> None:
        self._released = asyncio.Event()

        @runyard.agent
        async def speaker(ctx: runyard.Context) -> None:
            await ctx.token("alpha ")
            await self._released.wait()
            await ctx.token("omega")

        self.app = App({"speaker": speaker}, {}, "speaker")

    def release(self) -> None:
        self._released.set()


@runyard.agent
async def curious(ctx: runyard.Context) -> str:
    row: int = await ctx.ask("Which row?", int)
    return f"Row {row} is yours."


async def begun(server: Server, face: str, agent: str) -> RawStream:
    path, body = REQUESTS[face](agent, str(uuid4()))
    stream = await RawStream.open(server.port, path, HEADERS, body=body)
    assert stream.status == 200
    return stream


async def test_two_clients_follow_one_live_run(face: str, serve: Serve) -> None:
    speaker = Speaker()
    server = await serve(speaker.app)
    first = await begun(server, face, "speaker")
    run_id = await only_run(server)
    second = await server.stream(f"/api/runs/{run_id}/events")
    await second.until(lambda: b"alpha" in second.body)
    speaker.release()
    await asyncio.gather(first.to_end(), second.to_end())
    assert first.ended_cleanly
    assert second.ended_cleanly
    assert b"omega" in first.body
    assert b"omega" in second.body


async def test_a_run_that_one_client_began_is_canceled_by_another(face: str, serve: Serve) -> None:
    server = await serve(Speaker().app)
    stream = await begun(server, face, "speaker")
    run_id = await only_run(server)
    assert (await server.http.post(f"/api/runs/{run_id}/cancel")).status_code in (200, 202)
    await stream.to_end()
    assert stream.ended_cleanly
    assert (await server.run(run_id))["status"] == "canceled"


async def test_a_question_to_one_client_is_answered_by_another(face: str, serve: Serve) -> None:
    server = await serve(App({"curious": curious}, {}, "curious"))
    stream = await begun(server, face, "curious")
    run_id = await only_run(server)
    wait_id = await server.waiting(run_id)
    answered: Any = await server.http.post(f"/api/waits/{wait_id}", json={"value": 12})
    assert answered.status_code == 200, answered.text
    assert b"Row 12 is yours." in (await server.ended(run_id)).body
    await stream.close()
