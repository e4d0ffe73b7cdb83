"""A plan that is asked in a thread answers there like any other agent. Started as a plan it leaves no output."""

import json

import pytest

from tests.faces.plans.plans_client import REFERENCE, event_names, start, stream_to_end
from tests.faces.samples.agents_for_tests import NODES, SECRET
from tests.support.in_process.live_server import Server

ANSWER = json.dumps({"found": SECRET, "before": NODES[:-1]}, separators=(",", ":"), sort_keys=True)


@pytest.mark.req("S0.15", "S0.18", "S0.29")
async def test_a_plan_says_final_before_it_is_done_at_every_position(server: Server) -> None:
    thread_id = await server.thread()
    run_id = await server.post("device", thread_id=thread_id)
    stream = await server.ended(run_id)
    assert [frame.event for frame in stream.frames] == ["token", "final", "state"]
    token, final, state = [frame.json for frame in stream.frames]
    assert final == {"text": ANSWER, "sources": []}
    assert token["text"] == final["text"]
    assert state == {"status": "done"}
    said = (await server.http.get(f"/api/threads/{thread_id}")).json()["messages"]
    assert [message["content"] for message in said] == ["hello", ANSWER]
    for count, seq in enumerate(stream.ids[:-1], start=1):
        rest = await server.whole_stream(f"/api/runs/{run_id}/events", {"Last-Event-ID": str(seq)})
        assert [(frame.event, frame.json) for frame in rest.frames] == [
            (frame.event, frame.json) for frame in stream.frames[count:]
        ]


@pytest.mark.req("S0.15", "S0.29")
@pytest.mark.parametrize(("agent", "last"), [("failing_plan", "error"), ("gated_plan", "canceled")])
async def test_a_plan_that_did_not_end_well_has_no_final(server: Server, agent: str, last: str) -> None:
    run_id = await server.post(agent)
    if agent == "gated_plan":
        await server.http.post(f"/api/runs/{run_id}/cancel")
    assert [frame.event for frame in (await server.ended(run_id)).frames] == [last, "state"]


async def test_the_reference_plan_that_is_started_as_a_plan_has_its_13_events(server: Server) -> None:
    run_id = await start(server, plan="device")
    stream = await stream_to_end(server, run_id)
    assert event_names(stream) == REFERENCE
    assert len(stream.ids) == 13
