"""Core events to responses: a pure function of the log, whose positions never change."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from runyard.base.sse import Parser
from runyard.domain.events import (
    EVENT_TYPES,
    ApprovalDecided,
    ApprovalRequested,
    ClientTool,
    Event,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    Payload,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunResumed,
    RunWaiting,
    StepFinished,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    Trace,
    Usage,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.task import RunOptions
from runyard.faces.openai.chat_translate import ChunkTranslation
from runyard.faces.openai.follow import EventEncoder
from runyard.faces.openai.translate import Translation
from tests.faces.samples.random_logs import QUEUED, log
from tests.faces.samples.sample_events import EVENTS, RUN_ID


def translated(events: Sequence[Event]) -> tuple[Translation, list[dict[str, Any]]]:
    translation = Translation(RUN_ID)
    return translation, [shown for event in events for shown in translation.take(event)]


def names(shown: Sequence[dict[str, Any]]) -> list[str]:
    return [each["type"].removeprefix("response.") for each in shown]


def text_of(response: dict[str, Any]) -> str:
    return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])


def sent_after(events: Sequence[Event], part: int, after: int) -> list[dict[str, Any]]:
    """Return the events for a client that connects to a response with `starting_after`."""
    encoder, parser = EventEncoder(RUN_ID, part, after), Parser()
    return [msgspec.json.decode(frame.data) for event in events for frame in parser.feed(encoder.take(event))]


# --- examples


def test_a_plain_answer_has_the_events_in_the_order_that_clients_need() -> None:
    events = log(
        QUEUED,
        ModelThinking("hm"),
        ModelToken("Hel"),
        ModelToken("lo"),
        RunOutput("Hello"),
        RunFinished("done", "end_turn"),
    )
    translation, shown = translated(events)

    reasoning = ["reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done"]
    text = ["content_part.added", "output_text.delta", "output_text.delta", "output_text.done", "content_part.done"]
    item = ("output_item.added", "output_item.done")
    assert names(shown) == [
        "created", "in_progress", item[0], *reasoning, "reasoning_summary_part.done", item[1],
        item[0], *text, item[1], "completed",
    ]  # fmt: skip
    assert [each["sequence_number"] for each in shown] == list(range(len(shown)))
    assert text_of(translation.state.ended[0]) == "Hello"
    assert shown[-1]["response"]["id"] == f"resp_{RUN_ID}"


def test_a_response_ends_where_the_run_waits_for_tools_of_the_client() -> None:
    events = log(
        RunQueued("helper", "m", client_tools=[ClientTool("locate")]),
        ModelToken("Wait."),
        ModelMessage("turn#1", {"role": "assistant"}, Usage(5, 3)),
        ToolRequested("c1", "locate", {}),
        WaitRequested("wait_1", "c1", "client_tool", "locate", input={"a": 1}),
        ToolStarted("c1", "locate", {"a": 1}),
        RunWaiting(["wait_1"]),
        WaitAnswered("wait_1", "answered", "ann", "Kyoto"),
        RunResumed(2, "decision"),
        ToolFinished("c1", "locate", "Kyoto"),
        ModelToken("\n\nYou are in Kyoto."),
        ModelMessage("turn#2", {"role": "assistant"}, Usage(7, 2)),
        RunOutput("Wait.\n\nYou are in Kyoto."),
        RunFinished("done", "end_turn", Usage(12, 5)),
    )  # fmt: skip
    translation, shown = translated(events)
    first, second = translation.state.ended

    assert (first["id"], second["id"]) == (f"resp_{RUN_ID}", f"resp_{RUN_ID}_2")
    assert second["previous_response_id"] == first["id"]
    assert [item["type"] for item in first["output"]] == ["message", "function_call"]
    call = first["output"][1]
    assert (call["call_id"], call["name"], call["arguments"]) == ("wait_1", "locate", '{"a":1}')
    assert (first["status"], text_of(first), text_of(second)) == ("completed", "Wait.", "You are in Kyoto.")
    assert (first["usage"]["total_tokens"], second["usage"]["total_tokens"]) == (8, 9)
    assert names(shown).count("completed") == 2
    assert shown[names(shown).index("completed") + 1]["sequence_number"] == 0


def test_a_call_that_another_client_answered_at_once_is_not_handed_out() -> None:
    translation, _ = translated(
        log(
            QUEUED,
            ToolRequested("c1", "locate", {"a": 1}),
            WaitRequested("wait_1", "c1", "client_tool", "locate", input={"a": 1}),
            ToolStarted("c1", "locate", {"a": 1}),
            WaitAnswered("wait_1", "answered", "ann", "Kyoto"),
            ToolFinished("c1", "locate", "Kyoto"),
            RunWaiting([]),
            RunOutput("Kyoto"),
            RunFinished("done", "end_turn"),
        )
    )
    call, _ = items = translation.state.ended[0]["output"]
    assert [item["type"] for item in items] == ["mcp_call", "message"]
    assert (call["arguments"], call["output"]) == ('{"a":1}', "Kyoto")
    assert len(translation.state.ended) == 1


def test_a_response_that_waits_for_a_person_is_in_progress_and_says_for_what() -> None:
    events = log(QUEUED, ApprovalRequested("ap", "c1", "tool", "refund", {}), RunWaiting(["ap"]))
    translation, shown = translated(events)
    found = translation.response(1)

    assert found is not None
    assert found["status"] == "in_progress"
    assert found["runyard"]["waits"] == [{"id": "ap", "kind": "tool", "name": "refund", "prompt": None}]
    assert names(shown) == ["created", "in_progress", "in_progress"]
    assert shown[-1]["response"]["runyard"]["waits"]
    assert (
        translation.take(log(*[QUEUED] * 3, ApprovalDecided("ap", "approved", "ann"))[-1])[0]["response"]["runyard"][
            "waits"
        ]
        == []
    )


def test_withdrawn_text_ends_as_incomplete_and_is_not_part_of_the_answer() -> None:
    events = log(
        QUEUED,
        ModelToken("Kept."),
        StepFinished("s#1", "s"),
        ModelThinking("lost thought"),
        ModelToken("lost text"),
        RunResumed(2, "crash"),
        ModelReset(after=3),
        ModelToken(" Found."),
        RunOutput("Kept. Found."),
        RunFinished("done", "end_turn"),
    )
    translation, shown = translated(events)
    ended = translation.state.ended[0]

    assert [item["type"] for item in ended["output"]] == ["message", "message"]
    assert text_of(ended) == "Kept. Found."
    assert [each["item"]["status"] for each in shown if each["type"].endswith("item.done")] == [
        "completed", "completed", "incomplete", "completed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "output", "items"),
    [((), "all at once", 1), (("all ",), "all at once", 1), (("draft",), "all at once", 1), (("done",), "done", 1)],
)
def test_the_answer_of_the_run_is_the_text_of_the_response(written: tuple[str, ...], output: str, items: int) -> None:
    events = log(QUEUED, *map(ModelToken, written), RunOutput(output), RunFinished("done", "end_turn"))
    [ended] = translated(events)[0].state.ended
    assert text_of(ended) == output
    assert len(ended["output"]) == items


@pytest.mark.parametrize(
    ("end", "name", "status"),
    [
        (RunFinished("done", "end_turn"), "completed", "completed"),
        (RunFinished("done", "max_tokens_exceeded"), "incomplete", "incomplete"),
        (RunFinished("done", "max_steps"), "incomplete", "incomplete"),
        (RunFinished("error", "error"), "failed", "failed"),
        (RunFinished("canceled", "cancelled"), "incomplete", "cancelled"),
    ],
)
def test_every_end_of_a_run_is_an_event_that_the_client_library_knows(end: Payload, name: str, status: str) -> None:
    _, shown = translated(log(QUEUED, ToolStarted("c", "t", {}), ModelToken("a"), RunError("x", "Broken."), end))
    assert names(shown)[-1] == name
    assert shown[-1]["response"]["status"] == status
    added = [each["output_index"] for each in shown if each["type"].endswith("item.added")]
    done = [each["output_index"] for each in shown if each["type"].endswith("item.done")]
    assert sorted(added) == sorted(done), "the client library refuses a response with an open item"


def test_every_kind_of_event_can_be_translated() -> None:
    assert {event.type for event in EVENTS} <= set(EVENT_TYPES)
    translation, _ = translated(EVENTS)
    assert len(translation.state.ended) == 1


def test_a_background_response_is_queued_until_a_worker_has_it() -> None:
    queued = RunQueued("helper", "m", options=RunOptions(echo={"background": True, "metadata": {"a": "b"}}))
    _, shown = translated(log(queued, Trace("begun")))
    assert names(shown) == ["created", "queued", "in_progress"]
    assert [each["response"]["status"] for each in shown] == ["queued", "queued", "in_progress"]
    assert shown[0]["response"]["metadata"] == {"a": "b"}


# --- chat completions


def chunks(events: Sequence[Event], part: int = 1) -> tuple[list[dict[str, Any]], bool]:
    translation, parser = ChunkTranslation(RUN_ID, part), Parser()
    said = [frame.data for event in events for frame in parser.feed(translation.take(event))]
    return [msgspec.json.decode(each) for each in said if each != "[DONE]"], bool(said) and said[-1] == "[DONE]"


def streamed(found: Sequence[dict[str, Any]]) -> str:
    return "".join(each["choices"][0]["delta"].get("content") or "" for each in found if "choices" in each)


def test_text_that_is_written_again_after_a_crash_is_streamed_once() -> None:
    events = log(
        QUEUED, ModelToken("Hel"), ModelToken("lo"), ModelReset(), ModelToken("H"), ModelToken("ello you"),
        RunOutput("Hello you"), RunFinished("done", "end_turn"),
    )  # fmt: skip
    found, is_done = chunks(events)
    assert is_done
    assert streamed(found) == "Hello you"
    assert found[-1]["choices"][0]["finish_reason"] == "stop"


def test_another_text_after_a_crash_ends_the_stream_with_an_error_that_names_the_response() -> None:
    found, is_done = chunks(log(QUEUED, ModelToken("Hello"), ModelReset(), ModelToken("Hi"), ModelToken(" you")))
    assert is_done
    assert f"resp_{RUN_ID}" in found[-1]["error"]["message"]
