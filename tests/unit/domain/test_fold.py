"""The fold rebuilds a run's state at any seq."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import (
    PAYLOADS,
    ApprovalDecided,
    ApprovalRequested,
    Draft,
    Drafter,
    Event,
    MessageReceived,
    MessageTaken,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    Payload,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunResumed,
    RunWaiting,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolOutput,
    ToolRequested,
    ToolStarted,
    Trace,
    Usage,
    WaitAnswered,
    WaitRequested,
    place,
)
from runyard.domain.runs.run import Status
from runyard.domain.state.fold import fold
from runyard.domain.state.run_state import State
from tests.agents.fake_execution import FakeClock

_API = (RunQueued, ApprovalDecided)


def log(*payloads: Payload) -> list[Event]:
    drafts: list[Draft] = []
    for payload in payloads:
        drafts.append(Drafter(FakeClock(), "api" if isinstance(payload, _API) else "worker")(payload))
    return place("r", 1, drafts)


_keys = st.sampled_from(["a#1", "a#2", "b#1"])
_texts = st.text(max_size=3)
_json: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers(0, 9) | _texts | st.lists(_texts, max_size=2)
_usage = st.none() | st.builds(Usage, st.integers(0, 5), st.integers(0, 5))
_payloads: st.SearchStrategy[Payload] = st.one_of(
    st.builds(RunQueued, _texts),
    st.builds(RunResumed, st.integers(1, 4), st.sampled_from(["crash", "drain", "decision"])),
    st.builds(StepStarted, _keys, _texts, hash=_texts),
    st.builds(StepFinished, _keys, _texts, _usage, _json, st.none() | _texts),
    st.builds(ModelThinking, _texts),
    st.builds(ModelToken, _texts),
    st.just(ModelReset()),
    st.builds(ModelMessage, _keys, st.just({"role": "assistant"}), _usage),
    st.builds(ToolRequested, _keys, _texts, _json),
    st.builds(ApprovalRequested, _keys, _keys, st.sampled_from(["tool", "unknown_outcome", "question"]), _texts, _json),
    st.builds(ApprovalDecided, _keys, st.sampled_from(["approved", "rejected", "expired"]), _texts, _json),
    st.builds(WaitRequested, _keys, _keys, st.sampled_from(["question", "child", "timer"]), _texts, input=_json),
    st.builds(MessageReceived, _keys, _texts),
    st.builds(MessageTaken, _keys),
    st.builds(WaitAnswered, _keys, st.sampled_from(["answered", "failed", "expired"]), _texts, _json, usage=_usage),
    st.builds(ToolStarted, _keys, _texts, _json),
    st.builds(ToolOutput, _keys, _texts),
    st.builds(ToolFinished, _keys, _texts, _json, st.none() | _texts, st.integers(0, 9)),
    st.builds(RunWaiting, st.lists(_keys, max_size=2)),
    st.builds(Trace, _texts),
    st.builds(RunOutput, _texts),
    st.builds(RunError, _texts, _texts),
    st.builds(RunCanceled, _texts),
    st.builds(RunFinished, st.sampled_from(["done", "error", "canceled"]), st.just("end_turn"), _usage),
)


@pytest.mark.req("S0.25")
@given(st.lists(_payloads, max_size=25), st.integers(0, 25))
def test_folding_in_two_parts_gives_the_same_state_at_every_seq(payloads: list[Payload], cut: int) -> None:
    events = log(*payloads)
    before = fold(events[:cut])
    frozen = msgspec.json.encode(before)

    assert fold(events[cut:], before) == fold(events)
    assert msgspec.json.encode(before) == frozen, "the state that was given has changed"


@given(st.lists(_payloads, max_size=25))
def test_a_state_survives_the_way_through_json(payloads: list[Payload]) -> None:
    state = fold(log(*payloads))

    assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


def test_every_kind_of_event_can_be_folded() -> None:
    drawn = {type(payload) for payload in _one_of_each()}

    assert drawn == set(PAYLOADS.values())
    assert fold(log(*_one_of_each())).last_seq == len(PAYLOADS)


def _one_of_each() -> list[Payload]:
    return [
        RunQueued("a"),
        StepStarted("s#1", "s", hash="h"),
        StepFinished("s#1", "s", Usage(1, 2), {"x": 1}),
        ModelThinking("hm"),
        ModelToken("yes"),
        ModelReset(),
        ModelMessage("s#1", {"role": "assistant"}, Usage(3, 4)),
        ToolRequested("t#1", "t", {"q": 1}),
        ApprovalRequested("ap", "t#1", "tool", "t", {"q": 1}),
        RunWaiting(["ap"]),
        ApprovalDecided("ap", "approved", "ada", {"q": 2}),
        RunResumed(2, "decision"),
        ToolStarted("t#1", "t", {"q": 2}),
        ToolOutput("t#1", "..."),
        ToolFinished("t#1", "t", {"n": 1}, None, 7),
        Trace("fn"),
        WaitRequested("w", "ask#1", "question", "ask", "Which?", schema={"type": "integer"}),
        WaitAnswered("w", "answered", "ada", 7),
        MessageReceived("m2", "and this"),
        MessageTaken("m2"),
        RunOutput("yes"),
        RunError("code", "sentence"),
        RunCanceled("why"),
        RunFinished("done", "end_turn"),
    ]


def test_the_status_follows_the_log() -> None:
    events = log(
        RunQueued("a"),
        StepStarted("s#1", "s"),
        RunWaiting(["ap"]),
        ApprovalDecided("ap", "approved", "ada"),
        RunResumed(2, "decision"),
        RunFinished("done", "end_turn"),
    )

    statuses = [fold(events[:count]).status for count in range(1, 7)]

    assert statuses == [
        Status.QUEUED,
        Status.RUNNING,
        Status.WAITING,
        Status.QUEUED,
        Status.RUNNING,
        Status.DONE,
    ]


def test_a_reset_drops_what_was_written_after_the_last_result_and_nothing_else() -> None:
    written: list[Payload] = [
        ModelToken("kept "),
        ModelThinking("kept thought"),
        StepFinished("s#1", "s"),
        ModelToken("open"),
        ModelThinking("open thought"),
    ]
    before, after = fold(log(*written)), fold(log(*written, ModelReset()))

    assert (before.text, before.open_text) == ("kept open", True)
    assert (after.text, after.thinking, after.open_text) == ("kept ", "kept thought", False)
    assert fold(log(*written, ModelReset(), ModelToken("new"))).text == "kept new"


def test_a_call_shows_what_was_asked_and_what_was_called_after_an_edit() -> None:
    (call,) = fold(log(*_one_of_each())).calls

    assert (call.asked, call.input, call.status, call.output, call.ms) == ({"q": 1}, {"q": 2}, "finished", {"n": 1}, 7)


def test_a_call_waits_only_while_its_question_is_open() -> None:
    events = log(*_one_of_each())

    statuses = [fold(events[:count]).calls[0].status for count in (8, 9, 11, 13, 15)]

    assert statuses == ["requested", "waiting", "requested", "started", "finished"]


def test_the_first_decision_counts() -> None:
    asked = ApprovalRequested("ap", "t#1", "question", "approve", None)
    yes, no = ApprovalDecided("ap", "approved", "ada"), ApprovalDecided("ap", "rejected", "bob")

    assert fold(log(asked, yes, no)).waits["ap"].state == "approved"


def test_usage_adds_up_until_the_end_says_what_it_was() -> None:
    assert fold(log(*_one_of_each())).usage == Usage(4, 6)
    assert fold(log(*_one_of_each()[:-1], RunFinished("done", "end_turn", Usage(9, 9)))).usage == Usage(9, 9)


def test_a_hundred_thousand_tokens_fold_in_linear_time() -> None:
    events = log(*[ModelToken("word ")] * 100_000)

    assert len(fold(events).text) == 500_000
