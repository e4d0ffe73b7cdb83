"""A run's log reads as a conversation that any provider accepts: every call has exactly one result, in its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    ModelMessage,
    ModelToken,
    Payload,
    RunCanceled,
    RunFinished,
    RunOutput,
    RunQueued,
    StepStarted,
    ToolFinished,
    ToolRequested,
    ToolStarted,
)
from runyard.domain.state.conversation import NO_RESULT, NOT_MADE, UNKNOWN, messages
from runyard.domain.state.fold import fold
from tests.unit.domain.test_fold import log

ASKED: dict[str, Any] = {"amount": 5}


def wants(*ids: str, text: str | None = None) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "pay", "arguments": '{"amount":5}'}} for id in ids]
    return {"role": "assistant", "content": text, "tool_calls": calls, "provider_field": "kept"}


def result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def tool_result_after(*payloads: Payload) -> str:
    """The result that the model gets for its call `c1` in a run with these events."""
    said = messages(fold(log(RunQueued("a"), ModelMessage("s", wants("c1")), *payloads)), "hi")
    assert [message["role"] for message in said] == ["user", "assistant", "tool"]
    assert said[-1]["tool_call_id"] == "c1"
    return str(said[-1]["content"])


STARTED = ToolStarted("c1", "pay", ASKED)
REQUESTED = ToolRequested("c1", "pay", ASKED)
QUESTION = ApprovalRequested("ap", "c1", "tool", "pay", ASKED)


def test_results_stand_behind_the_message_that_asked_for_them_in_its_order() -> None:
    second, last = wants("c3", text="one more"), {"role": "assistant", "content": "done"}
    state = fold(
        log(
            RunQueued("a"),
            ModelMessage("s#1", wants("c1", "c2")),
            ToolRequested("c1", "pay", ASKED),
            ToolRequested("c2", "look", {}),
            ToolStarted("c2", "look", {}),
            ToolFinished("c2", "look", {"found": [1]}),
            ToolStarted("c1", "pay", ASKED),
            ToolFinished("c1", "pay", "paid"),
            ModelMessage("s#2", second),
            ToolStarted("c3", "pay", ASKED),
            ToolFinished("c3", "pay", None),
            ModelMessage("s#3", last),
            RunOutput("done"),
            RunFinished("done", "end_turn"),
        )
    )

    assert messages(state, "please") == [
        {"role": "user", "content": "please"},
        wants("c1", "c2"),
        result("c1", "paid"),
        result("c2", '{"found":[1]}'),
        second,
        result("c3", "null"),
        last,
    ]


def test_an_edited_call_says_so() -> None:
    edited = ToolStarted("c1", "pay", {"amount": 3})

    assert tool_result_after(REQUESTED, edited, ToolFinished("c1", "pay", "ok")) == (
        'A person changed the input of this call to {"amount":3}.\nok'
    )


@pytest.mark.parametrize(
    ("decision", "reason", "said"),
    [
        ("rejected", None, "A person rejected this call; it was not made."),
        ("rejected", "too much", "A person rejected this call; it was not made. Reason: too much"),
        ("expired", None, "This call was not decided in time; it was not made."),
    ],
)
def test_a_refusal_is_the_result(decision: Any, reason: str | None, said: str) -> None:
    assert tool_result_after(REQUESTED, QUESTION, ApprovalDecided("ap", decision, "ada", reason=reason)) == said


@pytest.mark.parametrize(
    ("payloads", "said"),
    [
        ((), NOT_MADE),
        ((REQUESTED,), NOT_MADE),
        ((REQUESTED, QUESTION), NOT_MADE),
        ((REQUESTED, QUESTION, ApprovalDecided("ap", "approved", "ada")), NOT_MADE),
        ((REQUESTED, STARTED), NO_RESULT),
        ((REQUESTED, STARTED, RunCanceled("requested"), RunFinished("canceled", "cancelled")), NO_RESULT),
        ((STARTED, ToolFinished("c1", "pay", error="unknown_outcome")), UNKNOWN),
        ((STARTED, ToolFinished("c1", "pay", error="ValueError")), "Error executing tool: ValueError"),
        ((STARTED, ToolFinished("c1", "pay", "Error executing tool: no", error="E")), "Error executing tool: no"),
    ],
)
def test_a_call_without_a_result_gets_one_that_says_so(payloads: tuple[Payload, ...], said: str) -> None:
    assert tool_result_after(*payloads) == said


def test_other_kinds_of_agents_are_their_question_and_their_answer() -> None:
    steps = log(RunQueued("a"), StepStarted("s#1", "s"), ModelToken("par"), RunOutput("whole"))

    assert messages(fold(steps), "hi") == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "whole"},
    ]
    assert messages(fold(steps[:-1]), "hi") == [{"role": "user", "content": "hi"}], "partial text is not said"
    assert messages(fold(steps[:1]), None) == []


_ids = st.sampled_from(["c1", "c2", "c3"])
_happenings = st.lists(
    st.one_of(
        st.builds(ToolRequested, _ids, st.just("pay"), st.just(ASKED)),
        st.builds(ToolStarted, _ids, st.just("pay"), st.just(ASKED)),
        st.builds(ToolFinished, _ids, st.just("pay"), st.text(max_size=2)),
        st.builds(ApprovalRequested, _ids, _ids, st.just("tool"), st.just("pay"), st.just(ASKED)),
        st.builds(ApprovalDecided, _ids, st.sampled_from(["approved", "rejected", "expired"]), st.just("ada")),
    ),
    max_size=12,
)


@given(_happenings, st.integers(0, 14))
def test_at_any_seq_every_call_has_exactly_one_result(happenings: list[Payload], cut: int) -> None:
    first, second = ModelMessage("s#1", wants("c1", "c2")), ModelMessage("s#2", wants("c3"))
    state = fold(log(RunQueued("a"), first, *happenings[:6], second, *happenings[6:])[: cut + 2])

    said = messages(state, None)
    for place, message in enumerate(said):
        wanted = [call["id"] for call in message.get("tool_calls", ())]
        assert [after.get("tool_call_id") for after in said[place + 1 : place + 1 + len(wanted)]] == wanted
    assert sum(message["role"] == "tool" for message in said) == sum(len(m.get("tool_calls", ())) for m in said)
