"""Laws of the translation to AG-UI, over random logs."""

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from tests.faces.ag_ui.test_translate import USER, Shown, parts_of, read, sent, text_of
from tests.faces.samples.expected import Result, results, shown_waits, text
from tests.faces.samples.random_logs import every_kind, logs


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_messages_have_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    core, parts = fold(events), parts_of(events)
    messages = read([event for part in parts for event in part])
    said = text_of(messages).replace("\n", "")
    if core.output is None or core.output.text == core.text:
        assert said == core.text.replace("\n", "")
    else:
        assert said.endswith(core.output.text.replace("\n", ""))
    assert sorted(shown_results(messages)) == sorted(expected_results(events))
    calls = [call["id"] for message in messages for call in message.get("toolCalls", ())]
    assert len(set(calls)) == len(calls)
    if core.stop_reason is not None:
        last = parts[-1][-1]
        failed = ("RUN_ERROR", "Broken.", "broken")
        assert ((last["type"], last.get("message"), last.get("code")) == failed) == (core.status == "error")
        assert (last.get("outcome") == {"type": "cancelled"}) == (core.status == "canceled")
        if core.status == "done":
            assert core.output is not None
            about = {"sources": core.output.sources, "outputs": core.output.outputs, "stopReason": core.stop_reason}
            files = msgspec.to_builtins(core.output.files or [])
            assert last["result"] == {key: value for key, value in {**about, "files": files}.items() if value}


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_part_that_ends_while_the_run_waits_names_what_the_client_may_answer(events: list[Event]) -> None:
    """Each shown wait is an interrupt with its question, or a pending call with its input."""
    asked, pending, inputs = dict[str, Shown](), set[str](), dict[str, str]()
    for shown in (event for part in parts_of(events) for event in part):
        inputs |= {shown["toolCallId"]: shown["delta"]} if shown["type"] == "TOOL_CALL_ARGS" else {}
        outcome = shown.get("outcome") or {}
        asked |= {each["id"]: each for each in outcome.get("interrupts", ())}
        pending |= set(outcome.get("pendingToolCallIds", ()))
    waits, shown_ids = fold(events).waits, shown_waits(events)
    for key in shown_ids:
        if (wait := waits[key]).kind == "client_tool":
            assert inputs[key] == text(wait.input)
        elif wait.kind not in ("child", "timer", "event"):
            question = {"question": "Why?", "confirmation": "Why?", "tool": "Call tool?"}.get(wait.kind)
            assert question in (None, asked[key]["message"])
            assert asked[key]["metadata"] == {"kind": wait.kind, "input": wait.input}
    assert asked.keys() | pending <= shown_ids


def shown_results(messages: list[Shown]) -> list[Result]:
    """Return the calls of messages that have a result. AG-UI has no mark of an error."""
    calls = {call["id"]: call["function"] for each in messages for call in each.get("toolCalls", ())}
    made = [(calls[each["toolCallId"]], each["content"]) for each in messages if each["role"] == "tool"]
    return [Result(call["name"], call["arguments"], said, False) for call, said in made]


def expected_results(events: list[Event]) -> list[Result]:
    """A call that a person edits has been shown before, with the input that the agent asked for."""
    asked = {text(call.input): text(call.asked) for call in fold(events).calls}
    return [call._replace(given=asked[call.given], is_error=False) for call in results(events)]


@given(logs, st.integers(0, 80), st.data())
def test_a_client_that_follows_again_has_the_same_messages_as_one_that_never_left(
    events: list[Event], cut: int, data: st.DataObject
) -> None:
    parts = parts_of(events)
    part = data.draw(st.integers(1, len(parts)))
    before = read([event for each in parts[: part - 1] for event in each])
    whole = parts[part - 1]
    opened = {"TEXT_MESSAGE_START", "REASONING_MESSAGE_START"}
    seen = whole[:cut]
    partial = read([each for each in seen if not each["type"].startswith("RUN_")], before)
    again = sent(events, part, partial)
    assert sorted(read(again, partial), key=str) == sorted(read(whole, before), key=str)
    assert len([e for e in again if e["type"] in opened]) == len([e for e in whole if e["type"] in opened])


@given(logs, st.integers(0, 80))
def test_sent_events_stay_the_same_when_the_log_grows(events: list[Event], cut: int) -> None:
    before = sent(events[:cut], 1, [USER])
    assert sent(events, 1, [USER])[: len(before)] == before
