"""Laws of the translation to LangGraph's API, over random logs."""

from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk, BaseMessage, RemoveMessage, ToolMessage
from langchain_core.messages.utils import convert_to_messages
from langgraph.graph.message import add_messages

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from runyard.faces.langgraph.wire import MODES
from tests.faces.langgraph.test_translate import sent, translated
from tests.faces.samples.expected import Result, finished, result_of, shown_waits, text
from tests.faces.samples.random_logs import every_kind, logs


def _text(messages: list[Any]) -> str:
    return "".join(each["content"] for each in messages if each["type"] == "ai").replace("\n", "")


def _assembled(events: list[Event]) -> list[BaseMessage]:
    """Put the pieces of a stream together with LangChain's own classes, as a client does that has no values."""
    found: dict[str, Any] = {}
    parts = translated(events)[0].state.part
    for part in range(1, parts + 1):
        for _, name, data in sent(events, part, ["messages-tuple"]):
            if name != "messages":
                continue
            message = data[0]
            if message["type"] == "remove":
                left: Any = add_messages(list(found.values()), RemoveMessage(id=message["id"]))
                found = {each.id: each for each in left}
            elif message["type"] == "AIMessageChunk":
                fields = {name: message[name] for name in ("id", "content", "tool_call_chunks", "additional_kwargs")}
                piece = AIMessageChunk(**fields)
                found[message["id"]] = found[message["id"]] + piece if message["id"] in found else piece
            else:
                found[message["id"]] = ToolMessage(**message)
    return list(found.values())


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_messages_have_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    translation, _ = translated(events)
    core, messages = fold(events), translation.values()["messages"]
    if core.stop_reason is None:
        return
    said = core.text if core.output is None else core.output.text
    assert _text(messages).endswith(said.replace("\n", ""))
    if core.output is None or core.output.text == core.text:
        assert _text(messages) == said.replace("\n", "")
    calls = [call for each in messages if each["type"] == "ai" for call in each["tool_calls"]]
    assert len({call["id"] for call in calls}) == len(calls)
    assert [call["args"] for call in calls] == [call.asked for call in core.calls]
    args = {call["id"]: call["args"] for call in calls}
    results = [
        Result(each["name"], text(args[each["tool_call_id"]]), each["content"], each["status"] == "error")
        for each in messages
        if each["type"] == "tool"
    ]
    # the call stays as the agent asked for it if a person edits it
    assert sorted(results) == sorted(result_of(call, call.asked) for call in finished(core))
    if core.output is not None:
        about = [each["additional_kwargs"] for each in messages if each["type"] == "ai"]
        assert [source for each in about for source in each.get("sources", ())] == core.output.sources
        files = msgspec.to_builtins(core.output.files or [])
        assert [file for each in about for file in each.get("files", ())] == files
        values = translation.values()
        assert {name: value for name, value in values.items() if name != "messages"} == core.output.outputs
    last = translation.state.ended[-1]
    assert last in {"done": ("success",), "error": ("error",), "canceled": ("interrupted",)}[core.status]
    assert len(convert_to_messages(messages)) == len(messages), "LangChain can read them"


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_part_that_ends_while_the_run_waits_has_an_interrupt_for_each_wait(events: list[Event]) -> None:
    _, frames = translated(events)
    shown: dict[str, Any] = {}
    for frame in frames:
        if frame.event == "values":
            shown |= {each["id"]: each for each in frame.data.get("__interrupt__", ())}
    waits = fold(events).waits
    asked = {key: waits[key] for key in shown_waits(events) if waits[key].kind not in ("child", "timer", "event")}
    assert set(shown) == set(asked)
    for key, wait in asked.items():
        value = shown[key]["value"]
        if wait.kind == "client_tool":
            assert value["toolCall"] == {"id": key, "name": wait.name, "args": wait.input}
        elif wait.kind == "question":
            assert (value, shown[key]["response_schema"]) == (wait.prompt, wait.schema)
        else:
            [action] = value["action_requests"]
            assert (action["name"], action["args"]) == (wait.name, wait.input)


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_the_last_values_and_the_updates_are_the_state(events: list[Event]) -> None:
    translation, frames = translated(events)
    if translation.state.part != len(translation.state.ended):
        return  # the run has not ended
    state = translation.values()["messages"]
    if values := [frame.data for frame in frames if frame.event == "values"]:
        assert values[-1]["messages"] == state
    shown = {
        each["id"]: each
        for frame in frames
        if frame.event == "updates"
        for update in frame.data.values()
        if isinstance(update, dict)
        for each in update["messages"]
    }
    assert [each for each in state if each["type"] != "human" and each["id"] not in shown] == []


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_pieces_assemble_to_the_messages(events: list[Event]) -> None:
    translation, _ = translated(events)
    if translation.state.part != len(translation.state.ended):
        return
    whole = [each for each in translation.values()["messages"] if each["type"] in ("ai", "tool")]
    found = {each.id: each for each in _assembled(events)}
    assert set(found) == {each["id"] for each in whole}
    for message in whole:
        piece = found[message["id"]]
        if message["content"]:
            assert piece.content == message["content"]
        if isinstance(piece, AIMessageChunk):
            assert [call["id"] for call in piece.tool_calls] == [call["id"] for call in message["tool_calls"]]
            assert [call["args"] for call in piece.tool_calls] == [call["args"] for call in message["tool_calls"]]
            about = {name: message["additional_kwargs"].get(name) for name in ("sources", "files")}
            assert {name: piece.additional_kwargs.get(name) for name in about} == about
        if isinstance(piece, ToolMessage):
            assert (piece.tool_call_id, piece.status) == (message["tool_call_id"], message["status"])


@given(logs, st.lists(st.sampled_from(MODES), unique=True), st.integers(0, 60))
def test_a_reader_that_reconnects_at_any_position_gets_exactly_the_rest(
    events: list[Event], modes: list[str], at: int
) -> None:
    everything = []
    for part in range(1, translated(events)[0].state.part + 1):
        whole = sent(events, part, modes)
        everything += whole
        if at < len(whole):
            seq, number = map(int, whole[at][0].split("-"))
            assert sent(events, part, modes, (seq, number)) == whole[at + 1 :]
        all_modes = {each[0]: each for each in sent(events, part)}
        fallback = [each for each in whole if each[0] not in all_modes]
        assert all(all_modes[each[0]] == each for each in whole if each[0] in all_modes), "ids do not depend on modes"
        assert all("__interrupt__" in each[2] for each in fallback)
    ids = [each[0] for each in everything]
    assert len(ids) == len(set(ids))


@given(logs, st.integers(0, 80))
def test_sent_events_stay_the_same_when_the_log_grows(events: list[Event], cut: int) -> None:
    _, before = translated(events[:cut])
    _, after = translated(events)
    assert after[: len(before)] == before
