"""Laws of the translation to UI messages, over random logs."""

from hypothesis import example, given
from hypothesis import strategies as st

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from tests.faces.ai_sdk.message_reader import Message, read
from tests.faces.ai_sdk.test_translate import sent, translated
from tests.faces.samples.expected import Result, answer_of, results, shown_waits, text
from tests.faces.samples.random_logs import every_kind, logs

ENDS = {"done": {"stop", "length"}, "error": {"error"}, "canceled": {"other"}}


def shown_results(message: Message) -> list[Result]:
    """Return the tool calls of a message that have a result. Of a call that was denied the client gets no reason."""
    found = list[Result]()
    for tool in message.tools:
        if tool["type"] == "tool-tool" and tool["state"].startswith("output-"):
            state = tool["state"].removeprefix("output-")
            said = tool["output"] if state == "available" else "denied" if state == "denied" else tool["said"]
            found.append(Result("tool", text(tool["input"]), text(said), state != "available"))
    return found


def expected_results(events: list[Event]) -> list[Result]:
    core, shown = fold(events), shown_waits(events)
    approvals = [wait for key, wait in core.waits.items() if wait.kind == "tool" and key in shown]
    denied = {text(wait.input) for wait in approvals if wait.state in ("rejected", "expired")}
    found = [call._replace(said="denied") if call.given in denied else call for call in results(events)]
    known = {call.given for call in found}
    return found + [Result("tool", given, "denied", True) for given in denied - known]


def answers(message: Message) -> dict[str, tuple[str, bool]]:
    """Return the answers that the client has, by wait: its own, and those of other clients."""
    found = dict[str, tuple[str, bool]]()
    for tool in message.tools:
        if tool["type"] not in ("tool-ask", "tool-confirm") or not tool["state"].startswith("output-"):
            continue
        is_available = tool["state"] == "output-available"
        said = "denied" if tool["state"] == "output-denied" else tool["said"]
        found[tool["id"]] = (text(tool["output"]), False) if is_available else (said, True)
    return found


def expected_answers(events: list[Event]) -> dict[str, tuple[str, bool]]:
    shown, found = shown_waits(events), dict[str, tuple[str, bool]]()
    for key, wait in fold(events).waits.items():
        if key not in shown or wait.answered_seq is None:
            continue
        if wait.kind == "question":
            found[key] = answer_of(wait)
        if wait.kind == "confirmation":
            found[key] = (text({"approved": True}), False) if wait.state == "approved" else ("denied", True)
    return found


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_message_has_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    translation, _ = translated(events)
    core, message = fold(events), read(sent(events, 1, translation.state.part))
    said = message.text.replace("\n", "")
    if core.output is None or core.output.text == core.text:
        assert said == core.text.replace("\n", "")
    else:
        assert said.endswith(core.output.text.replace("\n", ""))
    assert sorted(map(str, shown_results(message))) == sorted(map(str, expected_results(events)))
    assert answers(message) == expected_answers(events)
    assert message.last is not None
    if core.stop_reason is not None:
        assert message.last["finishReason"] in ENDS[core.status]
        assert message.error == ("Broken. (broken)" if core.status == "error" else None)
    if core.output is not None:
        assert [part["url"] for part in message.parts if part["type"] == "file"] == [
            f"/api/files/{file.id}" for file in core.output.files or ()
        ]
        sources = [part["sourceId"] for part in message.parts if part["type"].startswith("source-")]
        assert sources == core.output.sources
        outputs = [part["data"] for part in message.parts if part["type"] == "data-outputs"]
        assert outputs == [core.output.outputs] * bool(core.output.outputs)
    assert not message.open or core.stop_reason is None, "an ended message has no open part"


@given(logs, st.integers(0, 80))
def test_a_reader_that_reconnects_at_any_position_gets_exactly_the_rest(events: list[Event], start: int) -> None:
    state = translated(events)[0].state
    for part in range(1, state.part + 1):
        whole = sent(events, part, part)
        assert sent(events, part, part, start) == whole[start:]
        assert len(whole) == (state.sizes[part - 1] if part <= len(state.sizes) else state.count)
    assert len(sent(events, 1, state.part)) == state.size_of_all


@given(logs, st.integers(1, 80))
def test_positions_in_the_whole_message_stay_when_the_run_continues(events: list[Event], cut: int) -> None:
    before = translated(events[:cut])[0].state
    shown, after = sent(events[:cut], 1, before.part), sent(events, 1, translated(events)[0].state.part)
    if not before.is_open and shown[-1:] != after[-1:]:
        shown.pop()  # `finish`: it ends the message where the run waits, and is left out when the run continues
    assert after[: len(shown)] == shown
