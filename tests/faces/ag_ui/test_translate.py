"""Core events to AG-UI events: a pure function of the log and the request."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from runyard.base.sse import Parser
from runyard.domain.events import (
    EVENT_TYPES,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelReset,
    ModelThinking,
    ModelToken,
    Payload,
    RunError,
    RunFinished,
    RunOutput,
    RunWaiting,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)
from runyard.faces.ag_ui import inputs
from runyard.faces.ag_ui.follow import Asked, Encoder, Part
from runyard.faces.ag_ui.translate import Translation
from tests.faces.samples.random_logs import QUEUED, log
from tests.faces.samples.sample_events import EVENTS, RUN_ID

Shown = dict[str, Any]
USER = {"id": "u1", "role": "user", "content": "hello"}


def translated(events: Sequence[Event]) -> tuple[Translation, list[Shown]]:
    translation = Translation(RUN_ID)
    return translation, [shown for event in events for shown in translation.take(event)]


def sent(events: Sequence[Event], part: int = 1, messages: Sequence[Shown] = (USER,), state: Any = None) -> list[Shown]:
    """Return the events for a client that asks for a part and has these messages."""
    encoder, parser = Encoder(Part(RUN_ID, part), Asked("t1", f"r{part}", messages, state)), Parser()
    found: list[Shown] = []
    for event in events:
        if not encoder.is_over:
            found += [msgspec.json.decode(frame.data) for frame in parser.feed(encoder.take(event))]
    return found


def parts_of(events: Sequence[Event]) -> list[list[Shown]]:
    """Return the events for a client that asks for every part in turn and sends the messages that it has."""
    messages: list[Shown] = [USER]
    parts: list[list[Shown]] = []
    for part in range(1, translated(events)[0].state.part + 1):
        parts.append(sent(events, part, messages))
        messages = read(parts[-1], messages)
    return parts


def read(events: Sequence[Shown], messages: Sequence[Shown] = (USER,)) -> list[Shown]:
    """Build messages from events, by the rules of AG-UI. Raises KeyError for an event that a client refuses."""
    found = {message["id"]: dict(message) for message in messages}
    is_open: set[str] = set()
    calls: dict[str, Shown] = {}
    for event in events:
        kind, message_id = event["type"], event.get("messageId", "")
        if kind in ("TEXT_MESSAGE_START", "REASONING_MESSAGE_START"):
            assert message_id not in is_open
            is_open.add(message_id)
            found.setdefault(message_id, {"id": message_id, "role": event["role"], "content": ""})
        elif kind in ("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"):
            assert message_id in is_open
            found[message_id]["content"] += event["delta"]
        elif kind in ("TEXT_MESSAGE_END", "REASONING_MESSAGE_END"):
            is_open.remove(message_id)
        elif kind == "TOOL_CALL_START":
            function = {"name": event["toolCallName"], "arguments": ""}
            call = {"id": event["toolCallId"], "type": "function", "function": function}
            calls[event["toolCallId"]] = function
            found[event["parentMessageId"]] = {"id": event["parentMessageId"], "role": "assistant", "toolCalls": [call]}
        elif kind == "TOOL_CALL_ARGS":
            calls[event["toolCallId"]]["arguments"] += event["delta"]
        elif kind == "TOOL_CALL_RESULT":
            result = {"toolCallId": event["toolCallId"], "content": event["content"]}
            found[message_id] = {"id": message_id, "role": "tool", **result}
        elif kind == "MESSAGES_SNAPSHOT":
            has_reasoning = any(message["role"] == "reasoning" for message in event["messages"])
            kept = {} if has_reasoning else {m["id"]: m for m in found.values() if m["role"] == "reasoning"}
            found = {**kept, **{message["id"]: dict(message) for message in event["messages"]}}
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            assert not is_open
    return list(found.values())


def names(shown: Sequence[Shown]) -> list[str]:
    return [each["type"] for each in shown]


def text_of(messages: Sequence[Shown]) -> str:
    return "".join(each["content"] for each in messages if each["role"] == "assistant" and "content" in each)


def test_a_plain_answer_has_the_events_in_the_order_that_clients_need() -> None:
    answer: list[Payload] = [ModelThinking("hm"), ModelToken("Hel"), ModelToken("lo")]
    found = sent(log(QUEUED, *answer, RunOutput("Hello"), RunFinished("done", "end_turn")))
    assert names(found) == [
        "RUN_STARTED", "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED",
    ]  # fmt: skip
    assert {(each["threadId"], each["runId"]) for each in (found[0], found[-1])} == {("t1", "r1")}
    assert found[-1]["outcome"] == {"type": "success"}


def test_withdrawn_messages_are_taken_back_by_a_snapshot() -> None:
    events = log(
        QUEUED, ModelToken("Kept."), StepFinished("s#1", "s"), ModelThinking("lost"), ModelToken("lost"),
        ModelReset(after=3), ModelThinking("new"), ModelToken(" Found."), RunOutput("Kept. Found."),
        RunFinished("done", "end_turn"),
    )  # fmt: skip
    messages = read(sent(events))
    assert text_of(messages) == "Kept. Found."
    assert [each["content"] for each in messages if each["role"] == "reasoning"] == ["new"]
    assert messages[0] == USER


def test_a_part_ends_with_interrupts_or_pending_calls_and_the_next_one_goes_on() -> None:
    events = log(
        QUEUED,
        ToolRequested("c1", "refund", {"a": 1}),
        ApprovalRequested("ap", "c1", "tool", "refund", {"a": 1}, 1_700_000_000_000),
        RunWaiting(["ap"]),
        ApprovalDecided("ap", "approved", "ann"),
        ToolStarted("c1", "refund", {"a": 1}),
        ToolFinished("c1", "refund", "done"),
        WaitRequested("wait_1", "c2", "client_tool", "locate", input={}),
        RunWaiting(["wait_1"]),
        WaitAnswered("wait_1", "answered", "ann", "Kyoto"),
        ToolFinished("c2", "locate", "Kyoto"),
        RunFinished("done", "end_turn"),
    )
    first, second, third = parts_of(events)
    [interrupt] = first[-1]["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["toolCallId"]) == ("ap", "ap")
    assert interrupt["expiresAt"].startswith("2023-11-14T22:13:20")
    assert [each["content"] for each in second if each["type"] == "TOOL_CALL_RESULT"] == ["done"]
    assert second[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["wait_1"]}
    assert "TOOL_CALL_RESULT" in names(third), "another client answered: this one needs the result"
    own = {"id": "x", "role": "tool", "toolCallId": "wait_1", "content": "Kyoto"}
    assert "TOOL_CALL_RESULT" not in names(sent(events, 3, [USER, own])), "its own result is not repeated"


def test_everything_is_closed_before_a_part_ends() -> None:
    events = log(
        QUEUED, StepStarted("s#1", "s"), StepStarted("s#2", "s"), ModelToken("a"),
        WaitRequested("w1", "c1", "child", "other", child="child_1"),
        WaitRequested("w2", "c2", "question", "ask", "Why?", schema={"type": "string"}), RunWaiting(["w1", "w2"]),
        WaitAnswered("w1", "answered", "child", "fine"), RunFinished("done", "end_turn"),
    )  # fmt: skip
    first, second = parts_of(events)
    assert [each["stepName"] for each in first if each["type"].startswith("STEP")] == ["s", "s#2", "s", "s#2"]
    assert names(first)[-4:] == ["STEP_FINISHED", "STEP_FINISHED", "SUBAGENT_FINISHED", "RUN_FINISHED"]
    assert first[-2]["outcome"] == {"type": "suspended"}
    assert names(second)[1:3] == ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"]
    assert second[2]["result"] == "fine"


@pytest.mark.parametrize(
    ("end", "kind", "outcome"),
    [
        (RunFinished("done", "max_steps"), "RUN_FINISHED", {"type": "success"}),
        (RunFinished("error", "error"), "RUN_ERROR", None),
        (RunFinished("canceled", "cancelled"), "RUN_FINISHED", {"type": "cancelled"}),
    ],
)
def test_every_end_of_a_run_is_an_end_of_the_protocol(end: Payload, kind: str, outcome: Any) -> None:
    last = sent(log(QUEUED, ModelToken("a"), RunError("x", "Broken."), end))[-1]
    assert (last["type"], last.get("outcome")) == (kind, outcome)
    assert last.get("code") == ("x" if kind == "RUN_ERROR" else None)


def test_outputs_are_added_to_the_state_of_the_client() -> None:
    events = log(QUEUED, RunOutput("a", [], {"score": 1}), RunFinished("done", "end_turn"))
    [snapshot] = [each for each in sent(events, state={"cart": 2}) if each["type"] == "STATE_SNAPSHOT"]
    assert snapshot["snapshot"] == {"cart": 2, "score": 1}


def test_every_kind_of_event_can_be_translated() -> None:
    assert {event.type for event in EVENTS} <= set(EVENT_TYPES)
    assert names(sent(EVENTS))[-1] == "RUN_FINISHED"


def test_messages_of_this_server_at_the_end_are_not_the_question() -> None:
    own = {"id": f"{RUN_ID}.1.2", "role": "assistant", "content": "Hel"}
    read_input = inputs.read([USER, {"id": "any", "role": "reasoning", "content": "hm"}, own])
    assert (read_input.question, read_input.own) == ("hello", RUN_ID)
