"""Core events to updates of an A2A task: a pure function of the log."""

from typing import Any

import pytest

from runyard.domain.content.parts import DataPart, TextPart, file_of
from runyard.domain.conversations.thread import Message
from runyard.domain.events import (
    EVENT_TYPES,
    ApprovalDecided,
    ApprovalRequested,
    ModelReset,
    ModelThinking,
    ModelToken,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunWaiting,
    StepFinished,
    ToolFinished,
    ToolStarted,
    Usage,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.task import RunOptions
from runyard.errors import BadRequest
from runyard.faces.a2a import inputs, objects, wire
from runyard.faces.a2a.inputs import Answer, Decision
from runyard.faces.a2a.translate import Translation
from tests.faces.a2a.task_reader import PLACE, now, read, sent, subscribed, text_of, translated
from tests.faces.samples.random_logs import QUEUED, log
from tests.faces.samples.sample_events import EVENTS, RUN_ID


def states(shown: list[objects.Shown]) -> list[str]:
    found = [each["statusUpdate"]["status"]["state"] for each in shown if "statusUpdate" in each]
    return [name.removeprefix("TASK_STATE_") for name in found]


def test_a_plain_answer_is_a_task_that_works_grows_an_artifact_and_completes() -> None:
    events = log(
        QUEUED, ModelThinking("hm"), ModelToken("Hel"), ModelToken("lo"), RunOutput("Hello", ["https://a.b"], {"n": 1}),
        RunFinished("done", "end_turn", Usage(5, 3)),
    )  # fmt: skip
    first, *rest = sent(events)
    assert first["task"]["status"] == {"state": "TASK_STATE_SUBMITTED", "timestamp": "2023-11-14T22:13:20.000Z"}
    assert states(rest) == ["WORKING", "COMPLETED"]
    chunks = [each["artifactUpdate"] for each in rest if "artifactUpdate" in each]
    assert [(c["artifact"]["parts"], c["append"], c["lastChunk"]) for c in chunks] == [
        ([{"text": "Hel"}], False, False),
        ([{"text": "lo"}], True, False),
        ([{"text": ""}], True, True),
        ([{"data": {"n": 1}, "mediaType": "application/json"}], False, True),
    ]
    assert rest[-1]["statusUpdate"]["metadata"] == {
        "sources": ["https://a.b"],
        "stopReason": "end_turn",
        "usage": {"inputTokens": 5, "outputTokens": 3},
    }
    assert text_of(read([first, *rest])) == "Hello"


def test_withdrawn_text_is_replaced_by_what_is_left() -> None:
    events = log(
        QUEUED, ModelToken("Kept."), StepFinished("s#1", "s"), ModelToken(" lost"), ModelReset(after=3),
        ModelToken(" Found."), RunOutput("Kept. Found."), RunFinished("done", "end_turn"),
    )  # fmt: skip
    assert text_of(read(sent(events))) == text_of(now(events)) == "Kept. Found."
    replaced = [each["artifactUpdate"] for each in sent(events)[1:] if "artifactUpdate" in each][2]
    assert (replaced["append"], replaced["artifact"]["parts"]) == (False, [{"text": "Kept."}])


def test_tool_calls_are_messages_of_the_status_and_not_of_the_history() -> None:
    events = log(QUEUED, ToolStarted("c1", "look", {"a": 1}), ToolFinished("c1", "look", {"b": 2}))
    said = [each["statusUpdate"]["status"]["message"]["parts"][0]["data"] for each in sent(events)[2:]]
    assert said == [
        {"toolCall": {"id": "c1", "name": "look", "input": {"a": 1}}},
        {"toolResult": {"id": "c1", "name": "look", "output": {"b": 2}}},
    ]
    assert "history" not in now(events)


def test_a_wait_requires_input_and_its_answer_begins_the_next_part() -> None:
    schema = {"type": "object"}
    events = log(
        QUEUED,
        WaitRequested("w1", "ask#1", "question", "ask", "Which seat?", schema=schema),
        RunWaiting(["w1"]),
        WaitAnswered("w1", "answered", "ann", {"row": 12}),
        ApprovalRequested("w2", "c1", "tool", "refund", {"a": 1}, 1_700_000_000_000),
        RunWaiting(["w2"]),
        ApprovalDecided("w2", "rejected", "ann", reason="no"),
        RunCanceled("requested"),
        RunFinished("canceled", "cancelled"),
    )
    one, two, three = (sent(events, part) for part in (1, 2, 3))
    assert [states(part[1:]) for part in (one, two, three)] == [
        ["WORKING", "INPUT_REQUIRED"],
        ["INPUT_REQUIRED"],
        ["CANCELED"],
    ]
    asked = one[-1]["statusUpdate"]["status"]["message"]
    about = {"waitId": "w1", "kind": "question", "name": "ask", "schema": schema}
    assert asked["parts"] == [{"text": "Which seat?"}, {"data": about, "mediaType": "application/json"}]
    assert (asked["role"], asked["taskId"], asked["contextId"]) == ("ROLE_AGENT", RUN_ID, "context")
    assert [each["role"] for each in two[0]["task"]["history"]] == ["ROLE_AGENT", "ROLE_USER"]
    assert two[0]["task"]["history"][1]["parts"][0]["data"] == {"row": 12}
    approval = two[-1]["statusUpdate"]["status"]["message"]["parts"]
    assert approval[0] == {"text": "Call refund?"}
    assert approval[1]["data"]["expiresAt"] == "2023-11-14T22:13:20.000Z"
    assert three[0]["task"]["history"][-1]["parts"][0]["data"] == {"approved": False, "reason": "no"}
    again = subscribed(events, 3)
    assert again[0]["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert states(again[1:]) == ["WORKING", "INPUT_REQUIRED"], (
        "a subscription continues after the wait that it began in"
    )


def test_a_task_that_is_canceled_while_it_waits_ends_for_a_client_that_sent_an_answer() -> None:
    asked = WaitRequested("w1", "ask#1", "question", "ask", "Why?")
    events = log(QUEUED, asked, RunWaiting(["w1"]), RunCanceled("requested"), RunFinished("canceled", "cancelled"))
    [only] = sent(events, 2)
    assert only["task"]["status"]["state"] == "TASK_STATE_CANCELED"
    assert [each["parts"][0] for each in only["task"]["history"]] == [{"text": "Why?"}]


def test_waits_for_times_and_other_runs_are_work() -> None:
    events = log(QUEUED, WaitRequested("w1", "sleep#1", "timer", "sleep"), RunWaiting(["w1"]))
    assert now(events)["status"]["state"] == "TASK_STATE_WORKING"


def test_a_failed_task_says_why() -> None:
    found = now(log(QUEUED, RunError("rate_limited", "Too fast."), RunFinished("error", "error")))
    assert found["status"]["state"] == "TASK_STATE_FAILED"
    assert found["status"]["message"]["parts"] == [{"text": "Too fast."}]
    assert found["status"]["message"]["metadata"] == {"code": "rate_limited"}


def test_the_first_message_and_files_are_parts_with_addresses() -> None:
    file = file_of("f1", "a.png", "image/png", 8)
    said = Message(id="m1", thread_id="t", role="user", text="see", created_at=0)
    asked = RunQueued("helper", "m1", options=RunOptions(echo={"messageId": "mine"}))
    events = log(asked, RunOutput("", files=[file]), RunFinished("done", "end_turn"))
    state, place = translated(events)[0].state, PLACE._replace(first=said)
    found = objects.task(state, place)
    assert (found["history"][0]["messageId"], found["history"][0]["parts"]) == ("mine", [{"text": "see"}])
    part = {"url": "http://server/api/files/f1", "filename": "a.png", "mediaType": "image/png"}
    assert [each["parts"] for each in found["artifacts"]] == [[part]]
    assert sent(events)[-2]["artifactUpdate"]["artifact"]["parts"] == [part]
    assert "history" not in objects.task(state, place, 0)
    assert "artifacts" not in objects.task(state, place, with_artifacts=False)
    assert objects.content("x", [TextPart("a"), DataPart(1), file])[1] == {"data": 1, "mediaType": "application/json"}


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_event_has_its_place(kind: str) -> None:
    shown = {
        "model.token": ["artifactUpdate"], "model.reset": ["artifactUpdate"], "run.output": ["artifactUpdate"] * 2,
        "run.resumed": ["statusUpdate"], "tool.started": ["statusUpdate"], "tool.finished": ["statusUpdate"],
        "run.finished": ["statusUpdate"],
    }  # fmt: skip
    translation, found = Translation(RUN_ID), dict[str, list[str]]()
    for event in EVENTS:
        found[event.type] = [name for each in translation.take(event) for name in each]
    assert found[kind] == shown.get(kind, [])


def test_answers_are_texts_values_decisions_and_errors() -> None:
    assert inputs.answers([{"text": "a"}, {"text": "b"}]) == [Answer(None, "a\n\nb", is_text=True)]
    assert inputs.answers([{"text": "a remark"}, {"data": {"row": 1}}]) == [Answer(None, {"row": 1})]
    given: list[dict[str, Any]] = [
        {"data": {"waitId": "w1", "value": "x"}},
        {"data": {"waitId": "w2", "approved": True, "reason": "r"}},
    ]
    assert inputs.answers(given) == [
        Answer("w1", "x", is_text=True, kind="value"),
        Answer("w2", {"approved": True, "reason": "r"}, kind="approved"),
    ]
    [row] = inputs.answers([{"data": {"row": 12.0, "price": 1.5, "deep": [2.0, 1e300]}}])
    assert repr(row.value) == "{'row': 12, 'price': 1.5, 'deep': [2, 1e+300]}", "protobuf has no integers"
    for wrong in ({"waitId": "w"}, {"waitId": "w", "value": 1, "error": "x"}, {"waitId": 1, "value": 1}):
        with pytest.raises(BadRequest):
            inputs.answers([{"data": wrong}])
    with pytest.raises(wire.ContentTypeNotSupported):
        inputs.answers([{"raw": "aGk="}])


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("Yes.", Decision(True)),
        ("reject", Decision(False)),
        ("yes, but later", None),
        (True, Decision(True)),
        ({"approved": False, "reason": "no"}, Decision(False, "no")),
        ({"approved": True, "editedArgs": {"a": 1}}, Decision(True, edited={"a": 1})),
        ({"approved": "yes"}, None),
        ({"approved": True, "edited": {}}, None),
    ],
)
def test_a_decision_is_clear_or_none(value: object, meant: Decision | None) -> None:
    given = Answer(None, value, is_text=isinstance(value, str))
    if meant is not None:
        assert inputs.decision(given) == meant
    else:
        with pytest.raises(BadRequest):
            inputs.decision(given)
