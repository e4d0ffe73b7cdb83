"""Core events to the chunks of a UI message: a pure function of the log, whose positions never change."""

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
    RunResumed,
    RunWaiting,
    StepFinished,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)
from runyard.faces.ai_sdk import chunks
from runyard.faces.ai_sdk.follow import Encoder, Parts
from runyard.faces.ai_sdk.translate import Translation
from tests.faces.ai_sdk.message_reader import read
from tests.faces.samples.random_logs import QUEUED, log
from tests.faces.samples.sample_events import EVENTS, RUN_ID


def translated(events: Sequence[Event]) -> tuple[Translation, list[dict[str, Any]]]:
    translation = Translation(RUN_ID)
    return translation, [chunk for event in events for chunk in translation.take(event)]


def names(found: Sequence[dict[str, Any]]) -> list[str]:
    return [each["type"] for each in found]


def sent(events: Sequence[Event], first: int, last: int, start: int = 0) -> list[dict[str, Any]]:
    """Return the chunks for a client that reads these parts from a position."""
    encoder, parser = Encoder(Parts(RUN_ID, first, last), start), Parser()
    found: list[dict[str, Any]] = []
    for event in events:
        if encoder.is_over:
            break
        found += [msgspec.json.decode(f.data) for f in parser.feed(encoder.take(event)) if f.data != "[DONE]"]
    return found


def test_a_plain_answer_has_the_chunks_in_the_order_that_clients_need() -> None:
    answer: list[Payload] = [ModelThinking("hm"), ModelToken("Hel"), ModelToken("lo")]
    _, found = translated(log(QUEUED, *answer, RunOutput("Hello"), RunFinished("done", "end_turn")))
    assert names(found) == [
        "start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end",
        "text-start", "text-delta", "text-delta", "text-end", "finish-step", "finish",
    ]  # fmt: skip
    assert found[0]["messageId"] == RUN_ID
    assert found[-1]["finishReason"] == "stop"
    assert read(found).text == "Hello"


def test_withdrawn_text_leaves_the_message_and_a_tool_that_has_begun_stays() -> None:
    events = log(
        QUEUED, ModelToken("Kept."), StepFinished("s#1", "s"), ModelToken("lost"), ToolStarted("c1", "mail", {}),
        RunResumed(2, "crash"), ModelReset(after=3), ModelToken(" Found."), ToolFinished("c1", "mail", "sent"),
        RunOutput("Kept. Found."), RunFinished("done", "end_turn"),
    )  # fmt: skip
    _, found = translated(events)
    message = read(found)
    assert names(found).count("reset-step") == 1
    assert message.text == "Kept. Found."
    assert [(tool["type"], tool["output"]) for tool in message.tools] == [("tool-mail", "sent")]


def test_a_part_ends_where_the_run_waits_for_the_client_and_the_next_one_continues_the_message() -> None:
    events = log(
        QUEUED,
        ToolRequested("c1", "refund", {"a": 1}),
        ApprovalRequested("ap", "c1", "tool", "refund", {"a": 1}),
        WaitRequested("wait_1", "c2", "client_tool", "locate", input={}),
        RunWaiting(["ap", "wait_1"]),
        ApprovalDecided("ap", "approved", "ann", {"a": 2}),
        ToolStarted("c1", "refund", {"a": 2}),
        ToolFinished("c1", "refund", "done"),
        RunWaiting(["wait_1"]),
        WaitAnswered("wait_1", "answered", "ann", "Kyoto"),
        ToolFinished("c2", "locate", "Kyoto"),
        RunOutput("Good."),
        RunFinished("done", "end_turn"),
    )
    translation, _ = translated(events)
    first, second, third = (sent(events, n, n) for n in (1, 2, 3))
    assert translation.state.part == 3
    assert [part[-1]["finishReason"] for part in (first, second, third)] == ["tool-calls", "tool-calls", "stop"]
    assert [tool["state"] for tool in read(first).tools] == ["approval-request", "input-available"]
    assert not any("providerExecuted" in each for each in first if each.get("toolName") == "locate")
    whole = read(first + second + third)
    assert [(tool["input"], tool["output"]) for tool in whole.tools] == [({"a": 2}, "done"), ({}, "Kyoto")]
    assert whole.text == "Good."
    assert read(sent(events, 1, 3)).parts == whole.parts
    assert names(sent(events, 1, 3)).count("finish") == 1


def test_a_call_that_another_client_answered_at_once_is_not_handed_out() -> None:
    events = log(
        QUEUED,
        ToolRequested("c1", "locate", {"a": 1}),
        WaitRequested("wait_1", "c1", "client_tool", "locate", input={"a": 1}),
        WaitAnswered("wait_1", "answered", "ann", "Kyoto"),
        ToolFinished("c1", "locate", "Kyoto"),
        RunOutput("Kyoto"),
        RunFinished("done", "end_turn"),
    )
    translation, found = translated(events)
    assert translation.state.part == 1
    [tool] = read(found).tools
    assert (tool["input"], tool["output"]) == ({"a": 1}, "Kyoto")
    assert all(each.get("providerExecuted") for each in found if each["type"].startswith("tool-"))


def test_an_ended_run_leaves_no_client_call_in_the_last_step() -> None:
    """`sendAutomaticallyWhen` looks at the last step: it would send the results again, without end."""
    events = log(
        QUEUED, WaitRequested("wait_1", "c1", "client_tool", "locate"), RunWaiting(["wait_1"]),
        WaitAnswered("wait_1", "answered", "ann", "Kyoto"), RunFinished("done", "max_steps"),
    )  # fmt: skip
    assert read(translated(events)[1]).parts[-1] == {"type": "step-start"}


@pytest.mark.parametrize(
    ("end", "kinds", "reason"),
    [
        (RunFinished("done", "max_tokens_exceeded"), ["finish"], "length"),
        (RunFinished("error", "error"), ["error", "finish"], "error"),
        (RunFinished("canceled", "cancelled"), ["abort", "finish"], "other"),
    ],
)
def test_every_end_of_a_run_ends_the_message(end: Payload, kinds: list[str], reason: str) -> None:
    _, found = translated(log(QUEUED, ModelToken("a"), RunError("x", "Broken."), end))
    assert names(found)[-len(kinds) :] == kinds
    assert found[-1]["finishReason"] == reason
    assert read(found).error == ("Broken. (x)" if "error" in kinds else None)


def test_an_answer_that_differs_from_the_text_is_a_separate_step() -> None:
    events = log(QUEUED, ModelToken("draft"), RunOutput("all new"), RunFinished("done", "end_turn"))
    parts = read(translated(events)[1]).parts
    assert [part.get("text") for part in parts] == [None, "draft", None, "all new"]


def test_every_kind_of_event_can_be_translated() -> None:
    assert {event.type for event in EVENTS} <= set(EVENT_TYPES)
    message = read(translated(EVENTS)[1])
    assert message.last is not None
    assert message.last["type"] == "finish"
    assert {"data-step", "data-message", "source-document", "data-outputs"} <= {p["type"] for p in message.parts}


def test_sources_that_are_addresses_are_links() -> None:
    assert names(chunks.sources(["https://example.com", "cv_1"])) == ["source-url", "source-document"]
