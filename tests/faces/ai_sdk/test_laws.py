"""Laws of the translation to UI messages, over random logs."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from runyard.faces.ai_sdk.state import State
from runyard.faces.ai_sdk.translate import Translation
from tests.faces.ai_sdk.message_reader import read
from tests.faces.ai_sdk.test_translate import sent, translated
from tests.faces.samples.random_logs import logs
from tests.faces.samples.sample_events import RUN_ID

ENDS = {"done": {"stop", "length"}, "error": {"error"}, "canceled": {"other"}}


@given(logs)
def test_a_message_has_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    translation, _ = translated(events)
    core, message = fold(events), read(sent(events, 1, translation.state.part))
    text = message.text.replace("\n", "")
    if core.output is None or core.output.text == core.text:
        assert text == core.text.replace("\n", "")
    else:
        assert text.endswith(core.output.text.replace("\n", ""))
    finished = [call for call in core.calls if call.status == "finished"]
    done = {"output-available", "output-error", "output-denied"}
    shown = [tool for tool in message.tools if tool["state"] in done and tool["type"] == "tool-tool"]
    assert len(shown) == len(finished)
    assert sorted(tool["state"] == "output-available" for tool in shown) == sorted(
        call.error is None for call in finished
    )
    assert message.last is not None
    if core.stop_reason is not None:
        assert message.last["finishReason"] in ENDS[core.status]
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
def test_positions_in_the_whole_message_stay_when_the_run_goes_on(events: list[Event], cut: int) -> None:
    before = translated(events[:cut])[0].state
    shown, after = sent(events[:cut], 1, before.part), sent(events, 1, translated(events)[0].state.part)
    if not before.is_open and shown[-1:] != after[-1:]:
        shown.pop()  # `finish`: it ends the message where the run waits, and is left out when the run continues
    assert after[: len(shown)] == shown


@given(logs, st.integers(0, 80))
def test_a_translation_goes_on_from_a_snapshot(events: list[Event], cut: int) -> None:
    first, before = translated(events[:cut])
    kept = msgspec.json.decode(msgspec.json.encode(first.state), type=State)
    second = Translation(RUN_ID, kept)
    rest = [chunk for event in events[cut:] for chunk in second.take(event)]
    assert before + rest == translated(events)[1]
    assert second.state == translated(events)[0].state
