"""Laws of LangGraph's thread stream, over random logs of the runs of a thread."""

from collections.abc import Collection, Sequence
from typing import Any

import langchain_protocol
import msgspec
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from runyard.base.sse import Parser
from runyard.domain.events import Event
from runyard.domain.runs.run import Run, Status
from runyard.domain.state.fold import fold
from runyard.faces.langgraph.thread_events import ThreadEvent, ThreadState, ThreadTranslation
from runyard.faces.langgraph.thread_stream import RunEncoder, StreamRequest
from tests.faces.langgraph.test_translate import BASE
from tests.faces.samples.expected import Result, finished, result_of, text
from tests.faces.samples.random_logs import every_kind, logs
from tests.faces.samples.sample_events import RUN_ID

CHANNELS = ("values", "checkpoints", "updates", "messages", "tools", "lifecycle", "input", "custom")
ENDS = {"success": "completed", "interrupted": "interrupted", "error": "failed", "timeout": "failed"}
_channels = st.lists(st.sampled_from(CHANNELS), unique=True)


def run_at(pos: int) -> Run:
    run = Run(
        id=RUN_ID, owner="ann", face="", lane_key="", pos=pos, agent="helper", status=Status.RUNNING, created_at=0
    )
    return msgspec.structs.replace(run, thread_id="t")


def streamed(
    runs: Sequence[Sequence[Event]], channels: Collection[str] = CHANNELS, since: int | None = None
) -> list[Any]:
    """Return the events of a thread with these runs, in the queue from position 1."""
    parser, found = Parser(), []
    for pos, events in enumerate(runs, 1):
        encoder = RunEncoder(run_at(pos), StreamRequest(frozenset(channels), since=since))
        encoder.base = BASE
        found += [frame for event in events for frame in parser.feed(encoder.take(event))]
    assert all(frame.event == msgspec.json.decode(frame.data)["method"] for frame in found)
    return [msgspec.json.decode(frame.data) for frame in found]


def translated(events: Sequence[Event]) -> tuple[ThreadTranslation, list[ThreadEvent]]:
    translation = ThreadTranslation(RUN_ID)
    return translation, [found for event in events for found in translation.take(event)]


def assembled(found: Sequence[ThreadEvent]) -> dict[str, list[Any]]:
    """Return the finished blocks of each message, checked against its pieces. Withdrawn messages are left out."""
    messages: dict[str, list[Any]] = {}
    open_id, text = "", ""
    for each in (each.data for each in found if each.method == "messages"):
        match each["event"]:
            case "message-start":
                assert not open_id
                open_id = each["id"]
                assert open_id not in messages
                messages[open_id] = []
            case "content-block-start":
                assert each["index"] == len(messages[open_id])
                text = ""
            case "content-block-delta":
                text += each["delta"].get("text", "") + each["delta"].get("reasoning", "")
            case "content-block-finish":
                whole = each["content"]
                if whole["type"] != "tool_call":
                    assert whole[whole["type"]] == text
                messages[open_id].append(whole)
            case "message-finish":
                if "metadata" in each:
                    del messages[open_id]
                open_id = ""
            case other:
                raise AssertionError(other)
    return messages


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_the_stream_has_the_text_the_tools_and_the_end_of_the_fold(events: list[Event]) -> None:
    core, (_, found) = fold(events), translated(events)
    if core.stop_reason is None:
        return
    *_, last = [each.data["messages"] for each in found if each.method == "values"]
    said = "".join(each["content"] for each in last if each["type"] == "ai").replace("\n", "")
    expected = (core.text if core.output is None else core.output.text).replace("\n", "")
    assert said.endswith(expected)
    if core.output is None or core.output.text == core.text:
        assert said == expected
    begun = [call for call in finished(core) if call.started_seq is not None]  # a rejected call is in the values only
    assert sorted(shown_results(found)) == sorted(result_of(call) for call in begun)
    results = [(each["content"], each["status"] == "error") for each in last if each["type"] == "tool"]
    assert sorted(results) == sorted(result_of(call)[2:] for call in finished(core))
    *_, end = [each.data["event"] for each in found if each.method == "lifecycle"]
    assert end == {"done": "completed", "error": "failed", "canceled": "interrupted"}[core.status]


def shown_results(found: Sequence[ThreadEvent]) -> list[Result]:
    """Return the calls that have ended, from the events of tools. A call that starts again may have another input."""
    calls, results = dict[str, ThreadEvent](), list[Result]()
    for each in (each for each in found if each.method == "tools"):
        match each.data["event"]:
            case "tool-started":
                calls[each.data["tool_call_id"]] = each
            case "tool-finished" | "tool-error" as end:
                begun = calls[each.data["tool_call_id"]].data
                said = each.data["message"] if end == "tool-error" else each.data["output"]
                results.append(Result(begun["tool_name"], text(begun["input"]), text(said), end == "tool-error"))
            case _:
                pass  # output of a running tool
    return results


def dropped_by_states(events: Sequence[Event]) -> set[str]:
    """Return the messages of the agent that one state had and the next one does not, which clients therefore drop.
    Only a `model.reset` drops messages."""
    translation, dropped, known = ThreadTranslation(RUN_ID), set[str](), set[str]()
    for event in events:
        for each in translation.take(event):
            if each.method == "values":
                now = {message["id"] for message in each.data["messages"] if message["type"] == "ai"}
                assert known <= now or event.type == "model.reset"
                dropped, known = dropped | (known - now), now
    return dropped


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_messages_have_the_blocks_of_the_state(events: list[Event]) -> None:
    translation, found = translated(events)
    if translation.run.state.part != len(translation.run.state.ended):
        return  # the run has not ended
    state = [each for each in translation.run.values()["messages"] if each["type"] == "ai"]
    pieces = assembled(found)
    for message in state:
        if message["id"] not in pieces:
            assert not message["content"], "its text was withdrawn, and its calls are left"
            continue
        blocks = pieces[message["id"]]
        said = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [block["id"] for block in blocks if block["type"] == "tool_call"]
        assert calls == [call["id"] for call in message["tool_calls"]]
        if said != message["content"]:
            assert (message["content"], bool(calls)) == ("", True), "its text was withdrawn, and its calls are left"
    dropped, last = dropped_by_states(events), {each["id"]: each for each in state}
    assert set(pieces) - last.keys() == set(pieces) & dropped - last.keys(), "all others stay"
    for returned in dropped & last.keys():
        assert (last[returned]["content"], bool(last[returned]["tool_calls"])) == ("", True), "its calls are left"


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_client_that_keeps_what_states_keep_has_the_messages_of_the_state(events: list[Event]) -> None:
    """A client shows a message from its first piece on, and drops it if a state had it and the next one does not."""
    translation, found = translated(events)
    shown: set[str] = set()
    known: set[str] = set()
    for each in found:
        if each.method == "messages" and each.data["event"] == "message-start":
            shown.add(each.data["id"])
        if each.method == "values":
            now = {message["id"] for message in each.data["messages"]}
            shown, known = (shown - (known - now)) | now, now
    if translation.run.state.part == len(translation.run.state.ended):
        assert shown == {each["id"] for each in translation.run.values()["messages"]}


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_every_part_begins_and_ends_and_tools_do_so_too(events: list[Event]) -> None:
    translation, found = translated(events)
    state = translation.run.state
    phases = [each.data["event"] for each in found if each.method == "lifecycle"]
    ended = [ENDS[how] for how in state.ended]
    assert phases[::2] == ["running"] * state.part
    assert phases[1::2] == ended
    asked = [each.data["interrupt_id"] for each in found if each.method == "input.requested"]
    assert set(asked) <= set(state.waits)
    steps = [each.data["step"] for each in found if each.method == "checkpoints"]
    assert steps == sorted(steps)
    assert not steps or steps[-1] == state.states
    open_calls: set[str] = set()
    for each in (each.data for each in found if each.method == "tools"):
        if each["event"] == "tool-started":
            assert each["tool_call_id"] not in open_calls
            open_calls.add(each["tool_call_id"])
        else:
            assert each["tool_call_id"] in open_calls
    assert open_calls <= set(state.calls.values())


@given(st.lists(logs, min_size=1, max_size=3), _channels, st.integers(0, 120))
def test_a_reader_that_reconnects_at_any_seq_gets_exactly_the_rest(
    runs: list[list[Event]], channels: list[str], at: int
) -> None:
    whole, everything = streamed(runs, channels), streamed(runs)
    seqs = [each["seq"] for each in everything]
    assert seqs == sorted(set(seqs))
    assert len({each["event_id"] for each in everything}) == len(everything)
    assert all(each in everything for each in whole), "neither seqs nor ids depend on channels"
    since = everything[at % len(everything)]["seq"]
    assert streamed(runs, channels, since) == [each for each in whole if each["seq"] > since]
    assert streamed(runs, channels, 0) == whole
    without_first = [each for each in everything if each["seq"] >> 32 > 1]
    assert streamed([[], *runs[1:]]) == without_first, "runs that were deleted do not move the others"


@given(logs, st.integers(0, 80))
def test_sent_events_stay_the_same_and_go_on_from_a_snapshot(events: list[Event], cut: int) -> None:
    first, before = translated(events[:cut])
    whole, after = translated(events)
    assert after[: len(before)] == before
    kept = msgspec.json.decode(msgspec.json.encode(first.state), type=ThreadState)
    second = ThreadTranslation(RUN_ID, kept)
    assert before + [found for event in events[cut:] for found in second.take(event)] == after
    assert second.state == whole.state


PROTOCOL_EVENT: TypeAdapter[Any] = TypeAdapter(langchain_protocol.Event)


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_the_types_of_the_protocol_accept_every_event(events: list[Event]) -> None:
    for each in streamed([events]):
        PROTOCOL_EVENT.validate_python(each)
