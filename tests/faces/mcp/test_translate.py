"""Core events to messages of MCP: a pure function of the log and the call."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from runyard.base.sse import Frame, Parser
from runyard.domain.events import (
    EVENT_TYPES,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelReset,
    ModelThinking,
    ModelToken,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunWaiting,
    StepStarted,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.wait import ClientWait
from runyard.faces.mcp import forms, objects
from runyard.faces.mcp.follow import Answer, Call, Encoder, call_in, echo_of
from runyard.faces.mcp.state import State
from runyard.faces.mcp.translate import Translation
from tests.faces.samples.random_logs import QUEUED, log
from tests.faces.samples.sample_events import EVENTS, RUN_ID

SESSION = Call(7, "p", asks=True, is_stateless=False)
PLAIN = Call(7, "p", asks=False, is_stateless=False)
STATELESS = Call(7, "p", asks=True, is_stateless=True)
DONE = RunFinished("done", "end_turn")
SEAT = {"type": "object", "properties": {"row": {"type": "integer", "title": "Row"}}, "required": ["row"]}


def messages(events: Sequence[Event], call: Call) -> list[dict[str, Any]]:
    """Return the messages for a client that makes this call."""
    answer, found = Answer(RUN_ID, call), list[dict[str, Any]]()
    for event in events:
        if not answer.is_over:
            found += answer.take(event)
    return found


def frames(events: Sequence[Event], call: Call, after: int = 0, is_primed: bool = False) -> list[Frame]:
    encoder, parser = Encoder(RUN_ID, call, after=after, is_primed=is_primed), Parser()
    found: list[Frame] = []
    for event in events:
        if not encoder.is_over:
            found += parser.feed(encoder.take(event))
    return found


def state_of(events: Sequence[Event]) -> State:
    translation = Translation(RUN_ID)
    for event in events:
        translation.take(event)
    return translation.state


def said(found: Sequence[dict[str, Any]]) -> list[str]:
    """The sentences of notifications of progress."""
    return [each["params"]["message"] for each in found if each.get("method") == "notifications/progress"]


ASKS = log(
    QUEUED,
    ToolRequested("c1", "refund", {"order": 1}),
    ApprovalRequested("approval_1", "c1", "tool", "refund", {"order": 1}),
    RunWaiting(["approval_1"]),
    ApprovalDecided("approval_1", "approved", "ann"),
    ToolStarted("c1", "refund", {"order": 1}),
    ToolFinished("c1", "refund", "done"),
    WaitRequested("wait_1", "a1", "question", "ask", "Which seat?", schema=SEAT),
    RunWaiting(["wait_1"]),
    WaitAnswered("wait_1", "answered", "ann", {"row": 1}),
    RunOutput("Booked."),
    DONE,
)


def test_a_plain_answer_has_progress_only_if_the_client_wants_it() -> None:
    events = log(
        QUEUED, StepStarted("s#1", "look up"), ModelThinking("hm"), ModelThinking("m"), ModelToken("lost\n"),
        ModelToken("gone"), ModelReset(), ModelToken("Hel"), ModelToken("lo.\n"), ModelToken("Bye."),
        ToolStarted("c1", "mail", {}),
        ToolFinished("c1", "mail", "no", "error"), RunOutput("Hello.\nBye.", ["cv_1"], {"score": 1}), DONE,
    )  # fmt: skip
    found = messages(events, PLAIN)
    assert said(found) == ["look up", "Thinking", "lost", "Hello.", "Bye.", "Calling mail", "mail failed"]
    assert [each["params"]["progress"] for each in found[:-1]] == [1, 2, 3, 4, 5, 6, 7]
    [response] = messages(events, Call("x", None, False, False))
    assert response == {**found[-1], "id": "x"}
    assert response["result"] == {
        "content": [{"type": "text", "text": "Hello.\nBye."}, {"type": "text", "text": "Sources:\n- cv_1"}],
        "isError": False,
        "structuredContent": {"score": 1},
        "_meta": {"runyard/runId": RUN_ID},
    }


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ((RunError("broken", "It broke."), RunFinished("error", "error")), "It broke. (broken)"),
        ((RunCanceled("requested"), RunFinished("canceled", "cancelled")), "The run was canceled."),
    ],
)
def test_a_run_that_fails_is_a_result_with_an_error(ending: Any, text: str) -> None:
    [response] = messages(log(QUEUED, *ending), Call(1, None, True, True))
    assert response["result"]["isError"] is True
    assert response["result"]["content"][0]["text"] == text
    assert response["result"]["resultType"] == "complete"


def test_with_a_session_questions_are_requests_within_the_call() -> None:
    found = [each for each in messages(ASKS, SESSION) if each.get("method") != "notifications/progress"]
    assert [each["id"] for each in found] == ["approval_1", "wait_1", 7]
    assert found[0]["method"] == "elicitation/create"
    assert found[0]["params"]["message"] == 'Call refund? {"order":1}'
    assert found[0]["params"]["requestedSchema"]["required"] == ["approved"]
    assert found[1]["params"]["requestedSchema"] == SEAT
    assert found[2]["result"]["content"][0]["text"] == "Booked."


def test_without_sessions_a_call_ends_with_a_question_and_the_next_one_goes_on() -> None:
    first, second, third = (
        messages(ASKS, Call(part, "p", asks=True, is_stateless=True, part=part)) for part in (1, 2, 3)
    )
    assert first[-1]["result"]["resultType"] == "input_required"
    assert list(first[-1]["result"]["inputRequests"]) == ["approval_1"]
    assert first[-1]["result"]["requestState"] == f"{RUN_ID}.1"
    assert said(second) == ["Calling refund", "refund returned"]
    assert (list(second[-1]["result"]["inputRequests"]), second[-1]["id"]) == (["wait_1"], 2)
    assert third[-1]["result"]["content"] == [{"type": "text", "text": "Booked."}]


def test_a_client_that_cannot_be_asked_is_told_how_to_answer() -> None:
    echo = echo_of(PLAIN, "my thread")
    state = state_of(ASKS[:9])
    state.echo = echo
    told = objects.notice(state)
    assert told["isError"] is False
    text = told["content"][0]["text"]
    for part in (RUN_ID, "Which seat?", "`runyard waits answer wait_1`", "POST /api/waits/wait_1", "my thread"):
        assert part in text
    approval = messages(ASKS, PLAIN)[-1]["result"]["content"][0]["text"]
    assert "`runyard approvals approve approval_1` or `runyard approvals reject approval_1`" in approval
    assert call_in(state) == PLAIN
    state.echo = echo_of(STATELESS, "t")
    assert call_in(state) is None


def test_a_task_shows_what_the_run_waits_for_and_its_result() -> None:
    def task(events: Sequence[Event], asks: bool = True) -> dict[str, Any]:
        return objects.task(state_of(events), 1_700_000_000_000, asks)

    assert task(ASKS[:2])["status"] == "working"
    waiting = task(ASKS[:3])
    assert (waiting["status"], list(waiting["inputRequests"])) == ("input_required", ["approval_1"])
    silent = task(ASKS[:4], asks=False)
    assert (silent["status"], "approval_1" in silent["statusMessage"]) == ("working", True)
    done = task(ASKS)
    assert (done["status"], done["result"]["content"][0]["text"]) == ("completed", "Booked.")
    failed = task(log(QUEUED, RunError("broken", "It broke."), RunFinished("error", "error")))
    assert (failed["status"], failed["result"]["isError"]) == ("completed", True)
    canceled = task(log(QUEUED, RunCanceled("requested"), RunFinished("canceled", "cancelled")))
    assert canceled["status"] == "cancelled"
    assert "result" not in canceled
    assert done["createdAt"] == "2023-11-14T22:13:20.000Z"


NESTED = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}


@pytest.mark.parametrize(
    ("schema", "fields", "content", "value"),
    [
        (SEAT, {"row": {"type": "integer", "title": "Row"}}, {"row": 3}, {"row": 3}),
        ({"type": "boolean"}, {"value": {"type": "boolean"}}, {"value": True}, True),
        (
            {"type": "string", "enum": ["a", "b"], "format": "regex"},
            {"value": {"type": "string", "enum": ["a", "b"]}},
            {"value": "a"},
            "a",
        ),
        (NESTED, None, {"value": '{"a": ["x"]}'}, {"a": ["x"]}),
        (None, None, {"value": "plain text"}, "plain text"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, {"value": "null"}, None),
    ],
)
def test_a_form_asks_for_what_the_schema_says(schema: Any, fields: Any, content: Any, value: Any) -> None:
    wait = ClientWait(kind="question", name="ask", prompt="Well?", schema=schema)
    form = forms.elicitation(wait)["params"]
    assert form["message"] == "Well?"
    properties = form["requestedSchema"]["properties"]
    if fields is None:
        assert (list(properties), properties["value"]["type"]) == (["value"], "string")
    else:
        assert properties == fields
    assert forms.value_of(wait, content) == value


def test_events_of_a_stream_have_ids_and_the_first_says_how_to_come_back() -> None:
    first, *rest = frames(ASKS, SESSION, is_primed=True)
    assert (first.id, first.data) == (f"{RUN_ID}.0", "")
    assert [each.id for each in rest] == [f"{RUN_ID}.{n}" for n in range(1, len(rest) + 1)]
    assert [msgspec.json.decode(each.data) for each in rest] == messages(ASKS, SESSION)
    assert {each.id for each in frames(ASKS, STATELESS)} == {""}


def test_every_event_has_a_translation() -> None:
    assert {event.type for event in EVENTS} == set(EVENT_TYPES)
    found = messages(EVENTS, SESSION)
    assert found[-1]["result"]["content"][0]["text"] == "Grüße"
