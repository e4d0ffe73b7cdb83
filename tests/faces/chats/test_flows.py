"""The flows of S1, section 5, byte for byte: ids and times are the only things that differ from run to run."""

from pathlib import Path
from typing import get_args

import pytest

from runyard.faces.chats.wire import EventName
from tests.faces.chats.chats_client import Chat, interaction_of, without_ids
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.in_process.raw_stream import RawStream

GOLDEN = Path(__file__).parent / "golden"
NAMES = {
    "interaction_started", "tool_call", "tool_result", "thinking", "answer", "approval_required", "approved",
    "rejected", "cancelled", "error", "interaction_complete",
}  # fmt: skip


async def standard(chat: Chat, gate: Gate) -> RawStream:
    return await chat.say("What's the weather in Barcelona?")


async def approval(chat: Chat, gate: Gate) -> RawStream:
    stream, approval_id = await chat.start_waiting()
    answer = await chat.approve(interaction_of(stream), approval_id, True)
    assert answer.status_code == 200
    await stream.to_end()
    return stream


async def rejection(chat: Chat, gate: Gate) -> RawStream:
    stream, approval_id = await chat.start_waiting()
    await chat.approve(interaction_of(stream), approval_id, False, reason="too dangerous")
    await stream.to_end()
    return stream


async def cancellation(chat: Chat, gate: Gate) -> RawStream:
    stream = await chat.start("hello", "gated")
    await stream.frames_to("thinking")
    await gate.until_reached()
    await chat.cancel(interaction_of(stream))
    await stream.to_end()
    return stream


async def edit(chat: Chat, gate: Gate) -> RawStream:
    first = await chat.say("the weather in Barcelona")
    return await chat.edit(interaction_of(first), "Actually, show me weather in Madrid")


async def failure(chat: Chat, gate: Gate) -> RawStream:
    return await chat.say("hello", "broken")


async def tool_failure(chat: Chat, gate: Gate) -> RawStream:
    return await chat.say("hello", "clumsy")


FLOWS = {one.__name__: one for one in (standard, approval, rejection, cancellation, edit, failure, tool_failure)}


@pytest.mark.req("S1.1", "S1.11", "S1.14", "S1.22", "S1.23", "S1.26", "S1.30", "S1.42", "S1.41", "S1.16")
@pytest.mark.parametrize("name", FLOWS)
async def test_a_flow_is_what_it_always_was(chat: Chat, gate: Gate, name: str) -> None:
    stream = await FLOWS[name](chat, gate)
    assert stream.ended_cleanly
    assert without_ids(bytes(stream.body)) == (GOLDEN / f"{name}.sse").read_bytes()


@pytest.mark.req("S1.12", "S1.13")
@pytest.mark.parametrize("backend", ["memory"])
async def test_the_names_are_those_of_the_contract_and_each_stream_has_one_end(chat: Chat, gate: Gate) -> None:
    assert set(get_args(EventName)) == NAMES
    seen: set[str] = set()
    for name, flow in FLOWS.items():
        stream = await flow(Chat(chat.server, name), gate)
        seen |= set(stream.events)
        assert stream.events[0] == "interaction_started"
        assert stream.events[-1] == "interaction_complete"
        assert stream.events.count("interaction_complete") == 1
        assert set(stream.wire[-1][1]) == {"interaction_id", "status"}
        assert (SECRET.encode() in stream.body) == (name == "tool_failure"), "only a tool's error is shown (S1.41)"
    assert seen == NAMES


@pytest.mark.req("S1.13", "S1.5")
@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("standard", "COMPLETED"),
        ("rejection", "COMPLETED"),
        ("cancellation", "CANCELLED"),
        ("failure", "FAILED"),
    ],
)
async def test_the_end_says_how_it_ended(chat: Chat, gate: Gate, name: str, status: str) -> None:
    stream = await FLOWS[name](chat, gate)
    assert stream.wire[-1][1] == {"interaction_id": interaction_of(stream), "status": status}
    assert (await chat.look(interaction_of(stream)))["status"] == status


@pytest.mark.req("S1.2")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_stream_has_the_headers_of_the_contract(chat: Chat) -> None:
    stream = await chat.say()
    assert stream.header("content-type") == ["text/event-stream; charset=utf-8"]
    assert stream.header("cache-control") == ["no-cache"]
    assert stream.header("connection") == ["keep-alive"]
    assert stream.header("x-accel-buffering") == ["no"]


@pytest.mark.req("S1.15", "S1.9")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_call_and_its_result_have_the_same_id_and_carry_text(chat: Chat, gate: Gate) -> None:
    stream = await approval(chat, gate)
    [call] = [data for event, data in stream.wire if event == "tool_call"]
    [result] = [data for event, data in stream.wire if event == "tool_result"]
    assert call == {"type": "TOOL_CALL", "id": result["id"], "tool_name": "execute_code",
                    "tool_input": '{"code": "print(1)"}'}  # fmt: skip
    assert result["tool_output"] == '{"output": "print(1)"}'


@pytest.mark.req("S1.49")
async def test_an_event_is_sent_when_it_happens_not_at_the_end(chat: Chat, gate: Gate) -> None:
    stream = await chat.start("hello", "gated")
    await stream.frames_to("thinking")
    assert (await chat.look(interaction_of(stream)))["status"] == "RUNNING"
    gate.open.set()
    await stream.to_end()
