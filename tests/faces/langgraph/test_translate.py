"""Core events to the events of LangGraph's API: a pure function of the log, whose positions never change."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from runyard.base.sse import Parser
from runyard.domain.events import (
    EVENT_TYPES,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    MessageReceived,
    MessageTaken,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunResumed,
    RunWaiting,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolOutput,
    ToolRequested,
    ToolStarted,
    Usage,
    WaitAnswered,
    WaitRequested,
)
from runyard.faces.langgraph.follow import START, Encoder, Position, Started
from runyard.faces.langgraph.objects import Frame
from runyard.faces.langgraph.translate import Translation
from runyard.faces.langgraph.wire import MODES
from tests.faces.samples.random_logs import QUEUED, log
from tests.faces.samples.sample_events import EVENTS, RUN_ID

DONE = RunFinished("done", "end_turn")
BASE = [{"type": "human", "id": "q", "content": "hello"}]


def translated(events: Sequence[Event]) -> tuple[Translation, list[Frame]]:
    translation = Translation(RUN_ID)
    return translation, [frame for event in events for frame in translation.take(event)]


def sent(
    events: Sequence[Event], part: int, modes: Collection[str] = MODES, after: Position = START
) -> list[tuple[str, str, Any]]:
    """Return the events for a client that connects after a position: the id, the name and the data of each event."""
    encoder, parser = Encoder(Started("thread", RUN_ID, part), modes, after), Parser()
    encoder.base = BASE
    frames = [frame for event in events for frame in parser.feed(encoder.take(event))]
    return [(frame.id or "", frame.event or "", msgspec.json.decode(frame.data)) for frame in frames]


def names(frames: Sequence[Frame]) -> list[str]:
    return [frame.event for frame in frames]


def said(values: Any) -> list[tuple[str, str]]:
    return [(each["type"], each["content"]) for each in values["messages"]]


def test_a_plain_answer_has_pieces_an_update_and_values() -> None:
    events = log(QUEUED, ModelThinking("hm"), ModelToken("Hel"), ModelToken("lo"), RunOutput("Hello"), DONE)
    translation, frames = translated(events)
    assert names(frames) == ["metadata", "values", *["messages"] * 3, "updates", "values", "end"]
    [answer] = translation.state.messages
    assert (answer["content"], answer["additional_kwargs"]) == ("Hello", {"reasoning_content": "hm"})
    assert {frame.data[0]["id"] for frame in frames if frame.event == "messages"} == {answer["id"]}
    assert sent(events, 1, ["values"])[-2][2]["messages"] == [*BASE, answer]


def test_calls_belong_to_the_message_before_them_and_results_to_calls() -> None:
    message = ModelMessage("s#1", {"role": "assistant"}, Usage(5, 3))
    events = log(
        QUEUED,
        StepStarted("s#1", "turn", "model"),
        ModelToken("Look."),
        message,
        ToolRequested("call#1", "mail", {"to": "ann"}),
        ToolRequested("call#2", "mail", {"to": "bob"}),
        ToolStarted("call#1", "mail", {"to": "ann"}),
        ToolOutput("call#1", "50 %"),
        ToolFinished("call#1", "mail", {"sent": True}),
        ToolStarted("call#2", "mail", {"to": "bob"}),
        ToolFinished("call#2", "mail", None, "timeout"),
    )
    translation, frames = translated(events)
    asked, one, two = translation.state.messages
    assert [call["args"] for call in asked["tool_calls"]] == [{"to": "ann"}, {"to": "bob"}]
    assert asked["usage_metadata"]["total_tokens"] == 8
    assert [one["tool_call_id"], two["tool_call_id"]] == [call["id"] for call in asked["tool_calls"]]
    assert (one["content"], one["status"], two["content"], two["status"]) == (
        '{"sent":true}', "success", "timeout", "error",
    )  # fmt: skip
    updates = [frame.data for frame in frames if frame.event == "updates"]
    assert updates == [
        {"model": {"messages": [asked]}}, {"tools": {"messages": [one]}}, {"tools": {"messages": [two]}},
    ]  # fmt: skip
    pieces = [frame.data[0] for frame in frames if frame.event == "messages"]
    assert [each["index"] for piece in pieces for each in piece.get("tool_call_chunks", [])] == [0, 1]
    assert [frame.data["text"] for frame in frames if frame.event == "custom"] == ["50 %"]


def test_a_wait_for_the_client_ends_the_part_and_its_answer_begins_the_next() -> None:
    events = log(
        QUEUED,
        ToolRequested("call#1", "mail", {}),
        ApprovalRequested("approval_1", "call#1", "tool", "mail", {"to": "ann"}),
        WaitRequested("wait_1", "ask#1", "question", "ask", "Why?", schema={"type": "string"}),
        WaitRequested("wait_2", "locate#1", "client_tool", "locate", input={}),
        RunWaiting(["approval_1", "wait_1", "wait_2"]),
        ApprovalDecided("approval_1", "approved", "ann"),
        RunResumed(1, "decision"),
        RunWaiting(["wait_1", "wait_2"]),
        WaitAnswered("wait_1", "answered", "ann", "so"),
        WaitAnswered("wait_2", "answered", "ann", "Oslo"),
        RunOutput("Done."),
        DONE,
    )
    translation, _ = translated(events)
    assert translation.state.ended == ["interrupted", "interrupted", "success"]
    first, second = sent(events, 1, ["values"])[-2][2], sent(events, 2, ["updates"])[-2][2]
    review, question, tool = first["__interrupt__"]
    assert review["value"]["review_configs"][0]["allowed_decisions"] == ["approve", "edit", "reject"]
    assert question == {"id": "wait_1", "value": "Why?", "response_schema": {"type": "string"}}
    assert tool["value"] == {"type": "tool", "toolCall": {"id": "wait_2", "name": "locate", "args": {}}}
    assert second == {"__interrupt__": [question, tool]}
    assert [name for _, name, _ in sent(events, 2, ["messages-tuple"])] == ["metadata", "updates", "end"]
    assert said(sent(events, 3, ["values"])[-2][2]) == [("human", "hello"), ("ai", ""), ("ai", "Done.")]
    assert sent(events, 3)[0][2]["run_id"] == f"{RUN_ID}_3"


def test_withdrawn_text_is_removed_and_written_again_as_another_message() -> None:
    events = log(
        QUEUED, ModelToken("Hel"), RunResumed(2, "crash"), ModelReset(), ModelToken("Hello"), RunOutput("Hello"), DONE
    )
    translation, frames = translated(events)
    pieces = [frame.data[0] for frame in frames if frame.event == "messages"]
    assert [piece["type"] for piece in pieces] == ["AIMessageChunk", "remove", "AIMessageChunk"]
    assert pieces[0]["id"] == pieces[1]["id"] != pieces[2]["id"]
    assert said(translation.values()) == [("ai", "Hello")]


def test_steps_are_nodes_and_data_of_nodes_is_custom() -> None:
    events = log(
        QUEUED,
        StepStarted("agent#1", "agent"),
        ModelToken("Hi"),
        StepFinished("custom:1", "custom", result={"done": 1}),
        StepFinished("agent#1", "agent"),
        StepFinished("checkpoint:1", "checkpoint", result={"hidden": 1}),
        StepStarted("count#1", "count"),
        StepFinished("count#1", "count", result=3),
        MessageReceived("m2", "also"),
        MessageTaken("m2"),
        RunOutput("Hi", ["doc_1"], {"score": 1}),
        DONE,
    )
    translation, frames = translated(events)
    updates = [frame.data for frame in frames if frame.event == "updates"]
    assert [next(iter(each)) for each in updates] == ["agent", "count", "model"]
    assert updates[1] == {"count": 3}
    assert [frame.data for frame in frames if frame.event == "custom"] == [{"done": 1}]
    assert said(translation.values()) == [("ai", "Hi"), ("human", "also"), ("ai", "")]
    assert translation.values()["score"] == 1
    assert translation.state.messages[-1]["additional_kwargs"] == {"sources": ["doc_1"]}


def test_an_error_and_a_cancel_end_the_stream_as_errors() -> None:
    failed = log(QUEUED, RunError("broken", "It broke."), RunFinished("error", "error"))
    late = log(QUEUED, RunError("timeout", "Too late."), RunFinished("error", "error"))
    canceled = log(QUEUED, RunCanceled("requested"), RunFinished("canceled", "cancelled"))
    ends = [(translated(each)[0].state.ended, sent(each, 1, [])[-1][1:]) for each in (failed, late, canceled)]
    assert ends == [
        (["error"], ("error", {"error": "broken", "message": "It broke."})),
        (["timeout"], ("error", {"error": "timeout", "message": "Too late."})),
        (["interrupted"], ("error", {"error": "UserInterrupt", "message": "The run was canceled."})),
    ]


def test_every_event_is_translated() -> None:
    assert {event.type for event in EVENTS} == set(EVENT_TYPES)
    assert translated(EVENTS)[1][-1].event in ("end", "error")


def test_the_mode_messages_shows_whole_messages_and_says_when_they_are_complete() -> None:
    events = log(
        QUEUED,
        ModelThinking("hm"),
        ModelToken("Hel"),
        ModelToken("lo"),
        ToolStarted("call#1", "mail", {"to": "ann"}),
        ToolFinished("call#1", "mail", "sent"),
        DONE,
    )
    got = sent(events, 1, ["messages"])
    [about] = got[1][2].values()
    assert about["metadata"]["langgraph_node"] == "model"
    pieces = [data[0] for _, name, data in got if name == "messages/partial"]
    assert [each["content"] for each in pieces] == ["", "Hel", "Hello", "Hello"]
    assert {each["additional_kwargs"]["reasoning_content"] for each in pieces} == {"hm"}
    assert [call["args"] for call in pieces[-1]["tool_calls"]] == [{"to": "ann"}]
    whole = [data[0] for _, name, data in got if name == "messages/complete"]
    assert whole == translated(events)[0].state.messages
    assert [name for _, name, _ in got[:3]] == ["metadata", "messages/metadata", "messages/partial"]
