"""The native log: core event names, the whole envelope, the stored data."""

import re
from typing import Any

import msgspec
import pytest

from runyard.domain.events import EVENT_TYPES, EventType
from runyard.faces.native.translate import envelope, frame
from tests.faces.samples.agents_for_tests import Gate
from tests.faces.samples.sample_events import EVENTS, RUN_ID
from tests.support.in_process.live_server import Serve, Server

UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_core_event_becomes_one_frame_of_its_own_name(kind: EventType) -> None:
    [event] = [event for event in EVENTS if event.type == kind]
    assert frame(event) == b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, kind.encode(), envelope(event))


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_an_envelope_has_every_column_and_the_data_byte_for_byte(kind: EventType) -> None:
    [event] = [event for event in EVENTS if event.type == kind]
    shown: dict[str, Any] = msgspec.json.decode(envelope(event))
    names = {"step.started": ["name"], "step.finished": ["name"], "trace": ["fn"]}.get(kind, [])
    assert list(shown) == ["run_id", "seq", "id", "ts", "type", "v", "source", *names, "data"]
    assert (shown["run_id"], shown["seq"], shown["type"], shown["v"]) == (RUN_ID, event.seq, kind, 1)
    assert envelope(event).endswith(b'"data":' + event.data + b"}")


async def test_a_log_shows_every_event_of_the_run_from_the_first(server: Server, gate: Gate) -> None:
    gate.open.set()
    run_id = await server.post("steps")
    stream = await server.whole_stream(f"/api/runs/{run_id}/log")
    assert stream.ids == list(range(1, len(stream.ids) + 1))
    assert stream.events == [
        "run.queued",
        "step.started",
        "step.finished",
        "model.token",
        "step.started",
        "step.finished",
        "model.token",
        "run.output",
        "run.finished",
    ]
    for shown in stream.frames:
        entry = shown.json
        assert (entry["run_id"], entry["seq"], entry["type"]) == (run_id, shown.id, shown.event)
        assert UUID7.fullmatch(entry["id"])
        assert entry["source"] == ("api" if shown.event == "run.queued" else "worker")
    stored = await server.store.read(run_id, 0, 100)
    assert [frame(event) for event in stored] == [block + b"\n\n" for block in stream.blocks]


async def test_two_clients_on_two_faces_see_the_same_facts(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    threads = await server.stream(f"/api/runs/{run_id}/events")
    native = await server.stream(f"/api/runs/{run_id}/log")
    await threads.frames_to("token")
    await native.frames_to("model.token")
    gate.open.set()
    await threads.to_end()
    await native.to_end()
    names = {"model.token": "token", "run.output": "final", "run.finished": "state"}
    facts = [(f.id, names[f.event], f.json["data"]) for f in native.frames if f.event in names]
    assert [(f.id, f.event) for f in threads.frames] == [(id_, name) for id_, name, _ in facts]
    for (_, told), (_, _, data) in zip(threads.wire, facts, strict=True):
        assert told.items() <= data.items()


@pytest.mark.parametrize("backend", ["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_follower_on_another_pod_sees_the_same_bytes(serve: Serve, gate: Gate) -> None:
    here = await serve()
    there = await serve(worker=False)
    run_id = await here.post("gated")
    await gate.until_reached()
    streams = [await pod.stream(f"/api/runs/{run_id}/log") for pod in (here, there)]
    for stream in streams:
        await stream.frames_to("model.token")
    gate.open.set()
    for stream in streams:
        await stream.to_end()
    assert streams[0].body == streams[1].body
    assert streams[1].ended_cleanly
