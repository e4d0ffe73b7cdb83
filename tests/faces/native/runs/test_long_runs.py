"""Looking at a long run, or continuing after it, reads a bounded number of events.

Snapshots are a thousand times as frequent here as they are in production, so that short logs show it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.domain.state.fold import fold
from runyard.engine.log import snapshots as module
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.running import run_snapshots
from runyard.engine.running.earlier_runs import earlier_conversations
from runyard.store import Snapshot
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

EVERY, AT_END, PAGE = 200, 20, 50
TOKENS = 3000
OWNER = "local"


class Reads:
    """Counts the events that a pod reads from its store and the snapshots that it saves there."""

    def __init__(self, server: Server) -> None:
        self.pages: list[int] = []
        self.limits: list[int] = []
        self.saved: list[tuple[str, Snapshot]] = []
        store: Any = server.store
        read, read_logs, save = store.read, store.read_logs, store.save_snapshot

        async def counted(run_id: str, after: int, limit: int) -> Sequence[Event]:
            found: Sequence[Event] = await read(run_id, after, limit)
            self.pages.append(len(found))
            self.limits.append(limit)
            return found

        async def counted_together(run_ids: Sequence[str], upto: int) -> Mapping[str, Sequence[Event]]:
            found: Mapping[str, Sequence[Event]] = await read_logs(run_ids, upto)
            self.pages += map(len, found.values())
            return found

        async def noted(run_id: str, kind: str, snapshot: Snapshot) -> None:
            self.saved.append((kind, snapshot))
            await save(run_id, kind, snapshot)

        store.read, store.read_logs, store.save_snapshot = counted, counted_together, noted

    def since(self) -> int:
        """How many events were read since the last call."""
        count = sum(self.pages)
        self.pages.clear()
        return count


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (module, run_snapshots):
        monkeypatch.setattr(place, "EVERY", EVERY)
        monkeypatch.setattr(place, "AT_END", AT_END)
    monkeypatch.setattr(module, "READ_EVENTS", PAGE)


def writers(gate: Gate) -> App:
    @agent
    async def writer(ctx: Context) -> str:
        """Writes as many tokens as the message says."""
        assert ctx.message is not None
        for n in range(int(ctx.message.text)):
            await ctx.token(f"{n} ")
        return ctx.written()

    @agent
    async def gated_writer(ctx: Context) -> str:
        """Writes many tokens, waits at the gate, writes one more."""
        for n in range(TOKENS):
            await ctx.token(f"{n} ")
        await gate.wait()
        await ctx.token("end")
        return ctx.written()

    return App({"writer": writer, "gated_writer": gated_writer}, {}, "writer")


@pytest.fixture
async def server(serve: Serve, gate: Gate) -> Server:
    return await serve(writers(gate))


async def written(server: Server, tokens: int = TOKENS, thread_id: str | None = None) -> Run:
    """A run of so many tokens that has ended."""
    run_id = await server.post("writer", str(tokens), thread_id)
    await server.ended(run_id)
    return await server.process.engine.views.run(OWNER, run_id)


async def saved(server: Server) -> None:
    """Wait for the snapshots that readers save."""
    for snapshots in server.process._snapshots:
        await snapshots.close()


async def whole_log(server: Server, run: Run) -> list[Event]:
    return list(await server.store.read(run.id, 0, 10 * TOKENS))


async def test_the_state_at_the_end_is_read_from_a_snapshot(server: Server) -> None:
    run, reads = await written(server), Reads(server)
    answer = (await server.http.get(f"/api/runs/{run.id}/state")).json()
    assert reads.since() < 2 * EVERY
    assert answer == msgspec.to_builtins(fold(await whole_log(server, run)))


@pytest.mark.parametrize("backend", ["sqlite"])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, TOKENS))
async def test_the_state_at_any_seq_is_the_fold_of_the_log(server: Server, at: int) -> None:
    run = getattr(server, "long_run", None)
    if run is None:
        run = server.long_run = await written(server)  # type: ignore[attr-defined]
    reads = Reads(server)
    state = await server.process.engine.views.state(OWNER, run.id, at)
    assert reads.since() < TOKENS / 2
    assert state == fold((await whole_log(server, run))[:at]) or at == 0


async def test_the_next_message_reads_the_same_after_a_long_answer_as_after_short_ones(server: Server) -> None:
    reads = Reads(server)
    read = {}
    for name, answers in {"long": [TOKENS], "short": [200] * 5}.items():
        thread = await server.thread()
        for tokens in answers:
            await written(server, tokens, thread)
        await _conversation(server, await written(server, 1, thread))  # the first reader may save a snapshot
        await saved(server)
        last = await written(server, 1, thread)
        reads.since()
        said = await _conversation(server, last)
        read[name] = reads.since()
        assert len(said) == len(answers) + 1
    assert read["long"] < EVERY
    assert read["short"] < EVERY


async def _conversation(server: Server, run: Run) -> list[Any]:
    found = earlier_conversations(server.store, server.process._snapshots[1], run, 20)
    return [conversation async for conversation in found]


async def test_at_once_after_a_long_answer_the_next_message_need_not_read_it(server: Server) -> None:
    thread = await server.thread()
    await written(server, TOKENS, thread)
    last, reads = await written(server, 1, thread), Reads(server)
    [conversation] = [each async for each in earlier_conversations(server.store, Snapshots(server.store), last, 1)]
    assert reads.since() < 2 * EVERY
    assert conversation[1]["content"].startswith("0 1 2 ")


@pytest.mark.parametrize("face", ["threads", "chats"])
async def test_the_chat_object_is_read_from_a_snapshot(server: Server, face: str) -> None:
    if face == "threads":
        run = await written(server)
        chat = run.thread_id
        await server.http.get(f"/chats/{chat}")  # the first read as a chat
        await saved(server)
    else:
        chat = "c"
        body = {"user_message": str(TOKENS), "agent": "writer"}
        await server.http.post(f"/chats/{chat}/interactions", json=body)
    reads = Reads(server)
    answer = await server.http.get(f"/chats/{chat}")
    assert answer.json()["interactions"][0]["agent_events"][-1]["content"].startswith("0 1 2 ")
    assert reads.since() < 2 * EVERY


async def test_a_run_that_is_taken_over_is_not_read_from_its_start(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated_writer")
    await _is_known(server, gate, run_id)
    await server.process.drain(0)
    run, reads = await server.process.engine.views.run(OWNER, run_id), Reads(server)
    assert run.last_seq > TOKENS
    state = await Snapshots(server.store).state(run)  # as the worker does that claims it next
    assert reads.since() < TOKENS / 2
    assert state == fold(await whole_log(server, run))


async def _is_known(server: Server, gate: Gate, run_id: str) -> None:
    """Wait until the run waits at the gate and the worker has saved a late state of it."""
    await gate.until_reached()

    async def is_saved() -> bool:
        return (kept := await server.store.snapshot(run_id, "state", TOKENS)) is not None and kept.seq > TOKENS / 2

    await eventually("a snapshot is saved", is_saved)


async def test_a_live_long_run_is_not_read_from_its_start(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated_writer")
    await _is_known(server, gate, run_id)
    reads = Reads(server)
    await server.http.get(f"/api/runs/{run_id}/state")
    assert reads.since() < TOKENS / 2
    gate.open.set()
    await server.ended(run_id)


@pytest.mark.parametrize("data", [b"", b"\x00broken", b'{"v":99,"state":{}}'])
async def test_a_snapshot_that_cannot_be_decoded_is_ignored(server: Server, data: bytes) -> None:
    run = await written(server, EVERY)
    events = await whole_log(server, run)
    for kind in ("state", "chats"):
        await server.store.save_snapshot(run.id, kind, Snapshot(run.last_seq, data))
    answer = await server.http.get(f"/api/runs/{run.id}/state")
    assert answer.json() == msgspec.to_builtins(fold(events))
    assert (await server.http.get(f"/chats/{run.thread_id}")).json()["interactions"][0]["agent_events"]


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_short_run_has_no_snapshots(server: Server) -> None:
    reads, run = Reads(server), await written(server, AT_END - 10)
    await server.http.get(f"/api/runs/{run.id}/state")
    await server.http.get(f"/chats/{run.thread_id}")
    await saved(server)
    assert reads.saved == []


@pytest.mark.parametrize("backend", ["memory"])
async def test_the_snapshots_of_a_run_take_less_room_than_half_its_log_and_the_last_one(server: Server) -> None:
    reads, run = Reads(server), await written(server, 3 * TOKENS)
    room = sum(len(event.data) + module.ROW_BYTES for event in await whole_log(server, run))
    states = [snapshot for kind, snapshot in reads.saved if kind == "state"]
    assert len(states) > 3
    assert sum(len(each.data) for each in states[:-1]) <= room / 2


@pytest.mark.parametrize("backend", ["memory"])
async def test_folding_reads_bounded_pages_and_lets_others_run_in_between(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, turns = await written(server), 0

    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr(server.store, "snapshot", nothing)
    reads = Reads(server)

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await server.process.engine.views.state(OWNER, run.id, None)
    task.cancel()
    assert max(reads.limits) <= PAGE
    assert turns >= TOKENS / PAGE
