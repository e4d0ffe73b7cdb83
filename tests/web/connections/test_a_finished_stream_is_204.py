"""A client that has seen the end of a run gets a 204, because an EventSource stops only then."""

import pytest

from runyard.client import Client
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Server


async def _streams(server: Server) -> dict[str, int]:
    """Every stream of a run that has ended, and the id of its last frame."""
    run_id = await server.post("happy")
    last = (await server.ended(run_id)).frames[-1].id
    plan = await server.http.post("/agents/runs", json={"runId": "p1", "plan": "device"})
    assert plan.status_code == 201
    stream = await server.whole_stream("/agents/runs/p1/stream")
    thread = (await server.run(run_id))["thread_id"]
    chat = f"/chats/{thread}/interactions/int_{run_id}"
    paths = (f"/api/runs/{run_id}/events", f"/api/runs/{run_id}/log", f"{chat}/events", chat)
    return {**dict.fromkeys(paths, int(last or 0)), "/agents/runs/p1/stream": int(stream.frames[-1].id or 0)}


@pytest.mark.req("S0.17")
async def test_a_last_event_id_at_or_past_the_end_is_a_204_on_every_stream(server: Server, gate: Gate) -> None:
    gate.open.set()
    for path, last in (await _streams(server)).items():
        for seen in (last, last + 1, last + 1000):
            answer = await server.http.get(path, headers={"Last-Event-ID": str(seen)})
            assert (answer.status_code, answer.content) == (204, b""), path
        before = await server.http.get(path, headers={"Last-Event-ID": str(last - 1)})
        assert before.status_code == 200, path
        assert f"id: {last}\n" in before.text, path
        asked = await server.http.get(f"{path}?after={last}")
        assert (asked.status_code, asked.text) == (200, ""), "the header alone stops a client"


@pytest.mark.req("S0.17")
async def test_a_run_that_goes_on_is_followed_from_any_id(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    stream = await server.stream(f"/api/runs/{run_id}/events", {"Last-Event-ID": "3"})
    gate.open.set()
    await stream.to_end()
    assert stream.ended_cleanly
    assert stream.frames


@pytest.mark.req("S0.17")
async def test_our_own_client_ends_when_nothing_more_comes(server: Server) -> None:
    run_id = await server.post("happy")
    last = int((await server.ended(run_id)).frames[-1].id or 0)
    async with Client(f"http://127.0.0.1:{server.port}") as client:
        assert [event async for event in client.follow(run_id, after=last)] == []
        assert [event.seq async for event in client.follow(run_id, after=last - 1)] == [last]
