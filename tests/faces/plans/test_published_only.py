"""Persist, outbox, bus, SSE: this face shows an event only after it is published."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from runyard.buses.bus import Hint
from tests.faces.plans.plans_client import REFERENCE, event_names, seen, start, stream_to_end
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server

# A heartbeat of 20 ms would cut off the reads of a database that is far away.
NEAR = pytest.mark.parametrize("backend", ["memory", "sqlite"])


class Held:
    """A server whose outbox publishes nothing until it is released, and the hints that its bus would have sent."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = asyncio.Event()
        self.sent: list[Hint] = []
        publish, send = server.store.publish, server.process.bus.send

        async def publish_later(marks: Any) -> Sequence[str]:
            await self.go.wait()
            return await publish(marks)

        def noted(hints: Sequence[Hint]) -> None:
            self.sent += hints
            send(hints)

        monkeypatch.setattr(server.store, "publish", publish_later)
        monkeypatch.setattr(server.process.bus, "send", noted)

    def announced(self, run_id: str) -> list[int]:
        return [hint.seq for hint in self.sent if hint.kind == "log" and hint.run_id == run_id]


@NEAR
@pytest.mark.req("S4.18", "S4.40", "S4.7", "S4.28", "S4.13", "S4.35")
async def test_persisted_events_are_shown_when_they_are_published_and_not_before(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await serve(heartbeat_seconds=0.02)
    held = Held(server, monkeypatch)
    await start(server, "held", "device")
    server_id = (await seen(server, "held"))["serverRunId"]
    stream = await server.stream("/agents/runs/held/stream")
    assert len(await server.log(server_id)) == 13, "it is persisted, and other faces show it"
    await stream.pings(3)
    assert stream.frames == []
    row = await seen(server, "held")
    assert (row["state"], row["finishedAt"], row["lastSeq"], row["nextSeq"]) == ("started", None, 13, 1)
    assert held.announced(server_id) == [], "nothing reaches the bus before the outbox has run"

    held.go.set()
    await stream.to_end()
    assert event_names(stream) == REFERENCE
    row = await seen(server, "held")
    assert (row["state"], row["nextSeq"]) == ("finished", 14)
    assert row["finishedAt"] is not None
    assert held.announced(server_id)[-1] == 13
    assert held.announced(server_id) == sorted(held.announced(server_id))


@NEAR
@pytest.mark.req("S4.18")
async def test_a_reader_that_comes_back_sees_no_further_than_the_publication(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await serve(heartbeat_seconds=0.02)
    await start(server, "early", "device")
    await stream_to_end(server, "early")
    held = Held(server, monkeypatch)
    await start(server, "late", "device")
    server_id = (await seen(server, "late"))["serverRunId"]
    await server.log(server_id)
    for from_seq in (0, 5):
        stream = await server.stream(f"/agents/runs/late/stream?fromSeq={from_seq}")
        await stream.pings(2)
        assert stream.frames == []
        await stream.close()
    assert (await stream_to_end(server, "early", 5)).ids == list(range(6, 14)), "the other run does not wait for it"
    held.go.set()
    assert (await stream_to_end(server, "late", 5)).ids == list(range(6, 14))


@pytest.mark.req("S4.37", "S4.19", "S4.52")
async def test_an_event_in_the_backfill_that_is_announced_again_is_sent_once(server: Server, gate: Gate) -> None:
    """Hints that come twice, late and in the wrong order, as after a publisher that died before it could mark."""
    await start(server, "twice", "gated_plan")
    server_id = (await seen(server, "twice"))["serverRunId"]
    stream = await server.stream("/agents/runs/twice/stream?fromSeq=2")
    await stream.until(lambda: len(stream.frames) >= 5)
    hints = [Hint("log", server_id, seq) for seq in (5, 7, 3, 6, 5, 4, 7, 1)]
    server.process._handle_hints(hints)
    gate.open.set()
    await stream.until(lambda: len(stream.frames) >= 6)
    server.process._handle_hints(hints)
    await stream.to_end()
    assert stream.ids == list(range(3, 14))


@pytest.mark.req("S4.29")
async def test_every_process_publishes_also_one_without_a_worker(serve: Serve) -> None:
    server = await serve(worker=False)
    await start(server, "alone")
    stream = await server.stream("/agents/runs/alone/stream")
    await stream.first_frame()
    assert event_names(stream) == ["RunStarted"]
    await stream.close()
