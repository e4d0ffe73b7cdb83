"""A client disconnects: its run is canceled after a grace time, unless a client reconnects."""

import asyncio
from typing import Any

import pytest

from runyard.domain.api_key import LOCAL
from runyard.domain.runs.run import Run, Status
from tests.faces.chats.chats_client import Chat, chat_agents, interaction_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

LONG: dict[str, Any] = {"chats_grace_seconds": 3600, "reap_seconds": 0.02}
SHORT: dict[str, Any] = {"chats_grace_seconds": 0.2, "reap_seconds": 0.02}


async def run_of(server: Server, stream: RawStream) -> Run:
    return await server.store.get_run(LOCAL, interaction_of(stream).removeprefix("int_"))


async def until_left(server: Server, stream: RawStream, left: bool = True) -> None:
    async def so() -> bool:
        return ((await run_of(server, stream)).detach_deadline is not None) == left

    await eventually("a client left or came back", so)


async def until_ended(server: Server, stream: RawStream) -> Run:
    async def ended() -> Run | None:
        run = await run_of(server, stream)
        return run if run.status.is_terminal else None

    run: Run = await eventually("the run has ended", ended)
    return run


@pytest.mark.req("S1.27")
async def test_a_run_whose_client_left_is_canceled_after_the_grace(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), **SHORT)
    chat = Chat(server)
    stream = await chat.start("hello", "gated")
    await gate.until_reached()
    assert (await run_of(server, stream)).detach_deadline is None, "not while a client follows"
    stream.abort()
    run = await until_ended(server, stream)
    assert run.status is Status.CANCELED
    assert run.cancel_requested_at is not None
    assert run.detach_deadline is not None
    assert run.cancel_requested_at >= run.detach_deadline, "not before the grace is over"
    found = await chat.look(interaction_of(stream))
    assert found["status"] == "CANCELLED"
    assert found["final_agent_state"] == {"messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.req("S1.27")
@pytest.mark.parametrize("path", ["/chats/chat_123/interactions/int_{}", "/api/runs/{}/events", "/api/runs/{}/log"])
async def test_a_client_that_reconnects_on_any_face_saves_the_run(serve: Serve, gate: Gate, path: str) -> None:
    server = await serve(chat_agents(gate), **LONG)
    stream = await Chat(server).start("hello", "gated")
    await gate.until_reached()
    stream.abort()
    await until_left(server, stream)
    back = await server.stream(path.format(interaction_of(stream).removeprefix("int_")))
    await until_left(server, stream, left=False)
    gate.open.set()
    await back.to_end()
    assert (await until_ended(server, stream)).status is Status.DONE


async def test_a_client_that_leaves_while_another_reads_changes_nothing(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), **SHORT)
    chat = Chat(server)
    stream = await chat.start("hello", "gated")
    other = await server.stream(f"{chat.path}/interactions/{interaction_of(stream)}", {"Last-Event-ID": "1"})
    await other.frames_to("thinking")
    stream.abort()
    await asyncio.sleep(0.4)  # waits on purpose: longer than the grace
    assert (await run_of(server, stream)).status is Status.RUNNING
    gate.open.set()
    await other.to_end()
    assert (await until_ended(server, stream)).status is Status.DONE


@pytest.mark.parametrize("backend", ["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_reader_who_comes_to_another_pod_saves_the_run(serve: Serve, gate: Gate) -> None:
    one, two = await serve(chat_agents(gate), **LONG), await serve(chat_agents(gate), worker=False, **LONG)
    stream = await Chat(one).start("hello", "gated")
    await gate.until_reached()
    stream.abort()
    await until_left(one, stream)
    back = await two.stream(f"/chats/chat_123/interactions/{interaction_of(stream)}")
    await until_left(one, stream, left=False)
    gate.open.set()
    await back.to_end()
    assert (await until_ended(one, stream)).status is Status.DONE


@pytest.mark.parametrize("backend", ["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_reader_on_another_pod_who_was_there_before_keeps_the_run(serve: Serve, gate: Gate) -> None:
    """The pod that saw the disconnect does not know of followers on other pods; their own watch clears the deadline."""
    one, two = await serve(chat_agents(gate), **LONG), await serve(chat_agents(gate), worker=False, **LONG)
    stream = await Chat(one).start("hello", "gated")
    reader = await two.stream(f"/chats/chat_123/interactions/{interaction_of(stream)}")
    await reader.first_frame()
    stream.abort()
    await one.store.detach(interaction_of(stream).removeprefix("int_"), 3_600_000)
    await until_left(one, stream, left=False)
    gate.open.set()
    await reader.to_end()
    assert (await until_ended(one, stream)).status is Status.DONE


async def test_a_run_that_waits_for_a_person_is_never_left(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), chats_grace_seconds=0, reap_seconds=0.02)
    chat = Chat(server)
    stream, approval_id = await chat.start_waiting()
    stream.abort()
    await asyncio.sleep(0.2)  # waits on purpose: the reaper comes by a few times
    assert (await run_of(server, stream)).status is Status.WAITING
    await chat.approve(interaction_of(stream), approval_id, True)
    assert (await until_ended(server, stream)).status is Status.DONE


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_process_that_stops_counts_as_no_disconnect(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), chats_grace_seconds=0)
    stream = await Chat(server).start("hello", "gated")
    await gate.until_reached()
    server.process.streams.is_draining = True
    stream.abort()
    await asyncio.sleep(0.1)  # waits on purpose: nothing is to happen
    assert (await run_of(server, stream)).detach_deadline is None
    server.process.streams.cut()


@pytest.mark.parametrize("backend", ["memory"])
async def test_with_continue_a_run_continues_after_every_disconnect(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), chats_on_disconnect="continue", **SHORT)
    stream = await Chat(server).start("hello", "gated")
    await gate.until_reached()
    stream.abort()
    await asyncio.sleep(0.4)  # waits on purpose: longer than the grace
    assert (await run_of(server, stream)).detach_deadline is None
    gate.open.set()
    assert (await until_ended(server, stream)).status is Status.DONE


@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("path", ["/api/runs/{run}/events", "/chats/{thread}/interactions/int_{run}"])
async def test_a_run_of_another_face_is_never_left(serve: Serve, gate: Gate, path: str) -> None:
    server = await serve(chat_agents(gate), chats_grace_seconds=0, reap_seconds=0.02)
    thread_id = await server.thread()
    run_id = await server.post("gated", thread_id=thread_id)
    stream = await server.stream(path.format(run=run_id, thread=thread_id))
    await gate.until_reached()
    stream.abort()
    await asyncio.sleep(0.2)  # waits on purpose: nothing is to happen
    assert (await server.run(run_id))["status"] == "running"
    gate.open.set()
    await server.ended(run_id)
