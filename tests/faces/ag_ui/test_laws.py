"""Laws of the translation to AG-UI, over random logs."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from runyard.faces.ag_ui.state import State
from runyard.faces.ag_ui.translate import Translation
from tests.faces.ag_ui.test_translate import USER, parts_of, read, sent, text_of, translated
from tests.faces.samples.random_logs import logs
from tests.faces.samples.sample_events import RUN_ID


@given(logs)
def test_messages_have_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    core, parts = fold(events), parts_of(events)
    messages = read([event for part in parts for event in part])
    text = text_of(messages).replace("\n", "")
    if core.output is None or core.output.text == core.text:
        assert text == core.text.replace("\n", "")
    else:
        assert text.endswith(core.output.text.replace("\n", ""))
    results = [message["toolCallId"] for message in messages if message["role"] == "tool"]
    assert len(results) == len([call for call in core.calls if call.status == "finished"])
    calls = [call["id"] for message in messages for call in message.get("toolCalls", ())]
    assert set(results) <= set(calls)
    assert len(set(calls)) == len(calls)
    if core.stop_reason is not None:
        last = parts[-1][-1]
        assert (last["type"] == "RUN_ERROR") == (core.status == "error")
        assert (last.get("outcome") == {"type": "cancelled"}) == (core.status == "canceled")


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
def test_what_was_sent_never_changes_when_the_log_grows(events: list[Event], cut: int) -> None:
    before = sent(events[:cut], 1, [USER])
    assert sent(events, 1, [USER])[: len(before)] == before


@given(logs, st.integers(0, 80))
def test_a_translation_goes_on_from_a_snapshot(events: list[Event], cut: int) -> None:
    first, before = translated(events[:cut])
    kept = msgspec.json.decode(msgspec.json.encode(first.state), type=State)
    second = Translation(RUN_ID, kept)
    rest = [shown for event in events[cut:] for shown in second.take(event)]
    assert before + rest == translated(events)[1]
    assert second.state == translated(events)[0].state
