"""Clients see only stored events, and one writer stores every event of an agent."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from runyard.base.clock import SystemClock
from runyard.domain.runs.append import Outcome, Part
from runyard.domain.state.fold import fold
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.live_server import QUICK, Serve, Server, served


class SlowStore(MemoryStore):
    """Appends wait until they are let through; what was appended is noted."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.let_through = asyncio.Event()
        self.asked = asyncio.Event()
        self.appended: list[str] = []

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        self.asked.set()
        await self.let_through.wait()
        outcomes = await super().append(parts)
        self.appended += [draft.id for part in parts for draft in part.drafts]
        return outcomes


@pytest.mark.req("S0.35")
async def test_no_client_sees_an_event_before_it_is_stored(gate: Gate) -> None:
    store = SlowStore()
    settings = Settings(heartbeat_seconds=0.02, **QUICK)
    async with served(settings, agents(gate), store) as server:
        run_id = await server.post("gated")
        stream = await server.stream(f"/api/runs/{run_id}/events")
        await gate.until_reached()
        await store.asked.wait()
        await stream.pings(3)
        assert stream.frames == []
        assert (await server.http.get(f"/api/runs/{run_id}/state")).json()["text"] == ""
        store.let_through.set()
        await stream.frames_to("token")
        assert [event.type for event in await store.read(run_id, 0, 10)][1:] == ["model.token"]
        gate.open.set()
        await stream.to_end()


@pytest.mark.req("S0.34")
async def test_everything_a_worker_puts_into_a_log_went_through_append(gate: Gate) -> None:
    store = SlowStore()
    store.let_through.set()
    gate.open.set()
    settings = Settings(**QUICK)
    async with served(settings, agents(gate), store) as server:
        logs = [await server.log(await server.post(agent)) for agent in ("happy", "fails", "steps", "raises", "flood")]
    by_worker = [entry["id"] for log in logs for entry in log if entry["source"] == "worker"]
    assert sorted(by_worker) == sorted(store.appended)
    assert {entry["type"] for log in logs for entry in log if entry["source"] == "api"} == {"run.queued"}


@pytest.mark.req("S0.11", "S0.12")
async def test_a_log_only_grows_and_its_seqs_count_from_one(server: Server, gate: Gate) -> None:
    run_id = await server.post("steps")
    await gate.until_reached()
    stream = await server.stream(f"/api/runs/{run_id}/log")
    await stream.frames_to("model.token")
    early = list(stream.frames)
    gate.open.set()
    await stream.to_end()
    late = (await server.whole_stream(f"/api/runs/{run_id}/log")).frames
    assert late == stream.frames
    assert late[: len(early)] == early
    assert [frame.id for frame in late] == list(range(1, len(late) + 1))


@pytest.mark.req("S0.14")
@pytest.mark.parametrize("agent", ["happy", "fails", "raises", "gated"])
async def test_all_that_a_run_says_about_itself_is_in_its_log(server: Server, gate: Gate, agent: str) -> None:
    run_id = await server.post(agent)
    if agent == "gated":
        await gate.until_reached()
        await server.http.post(f"/api/runs/{run_id}/cancel")
    stream = await server.ended(run_id)
    run = await server.run(run_id)
    told = dict(stream.wire)
    assert told["state"]["status"] == run["status"]
    assert told.get("error", {"error": None})["error"] == run["error"]
    state = fold(await server.store.read(run_id, 0, 1000))
    assert state.status.value == run["status"]


@pytest.mark.req("S0.33", "S0.25")
async def test_a_fresh_process_goes_on_from_what_is_stored(serve: Serve, gate: Gate) -> None:
    first = await serve()
    run_id = await first.post("steps")
    await gate.until_reached()
    stream = await first.stream(f"/api/runs/{run_id}/events")
    await stream.frames_to("token")
    await first.process.stop()
    await stream.to_end()
    assert (stream.was_cut, stream.ended_cleanly) == (True, False)
    gate.open.set()
    second = await serve()
    rest = await second.whole_stream(f"/api/runs/{run_id}/events", {"Last-Event-ID": str(stream.ids[-1])})
    assert (gate.calls["one"], gate.calls["two"]) == (1, 1)
    whole = await second.ended(run_id)
    assert stream.frames + rest.frames == whole.frames
    assert rest.wire[-2:] == [("final", {"text": "1 1", "sources": []}), ("state", {"status": "done"})]
    kinds = [entry["type"] for entry in await second.log(run_id)]
    assert kinds.count("step.started") == kinds.count("step.finished") == 2
    assert kinds.count("run.resumed") == 1


@pytest.mark.req("S0.25")
async def test_the_state_at_any_seq_is_the_fold_of_the_log_up_to_it(server: Server, gate: Gate) -> None:
    gate.open.set()
    for agent in ("steps", "everything", "fails"):
        run_id = await server.post(agent)
        await server.ended(run_id)
        events = await server.store.read(run_id, 0, 1000)
        for at in range(len(events) + 1):
            state: dict[str, Any] = (await server.http.get(f"/api/runs/{run_id}/state", params={"at": at})).json()
            folded = fold(events[:at])
            assert (state["last_seq"], state["status"], state["text"]) == (at, folded.status.value, folded.text)
            assert len(state["steps"]) == len(folded.steps)
