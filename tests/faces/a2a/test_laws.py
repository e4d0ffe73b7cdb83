"""Laws of the translation to A2A, over random logs. `tests/clients/test_a2a.py` reads the same with the SDK's types."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from runyard.domain.events import Event
from runyard.domain.state import run_state as fold_state
from runyard.domain.state.fold import fold
from runyard.domain.state.run_state import CallState
from runyard.faces.a2a.state import CLOSING
from runyard.faces.a2a.translate import STATES
from tests.faces.a2a.task_reader import now, read, same, sent, subscribed, text_of, translated
from tests.faces.samples.expected import finished
from tests.faces.samples.random_logs import every_kind, logs


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_task_has_the_text_the_calls_the_answers_and_the_end_of_the_fold(events: list[Event]) -> None:
    core, (_, shown) = fold(events), translated(events)
    found = now(events)
    assert text_of(found) == (core.text if core.output is None else core.output.text)
    said = [each["statusUpdate"]["status"].get("message") for each in shown if "statusUpdate" in each]
    data = [part["data"] for message in said if message for part in message["parts"] if "data" in part]
    results = [each["toolResult"] for each in data if "toolResult" in each]
    assert sorted(results, key=str) == sorted(map(expected_result, finished(core)), key=str)
    begun = {call.call_id: call.input for call in core.calls if call.started_seq is not None}
    assert {each["toolCall"]["id"]: each["toolCall"]["input"] for each in data if "toolCall" in each} == begun
    said_by_user = [each["parts"] for each in found.get("history", ()) if each["role"] == "ROLE_USER"]
    assert said_by_user == said_during(core)
    if core.stop_reason is not None:
        assert found["status"]["state"] == STATES[core.status]
        assert found["metadata"]["stopReason"] == core.stop_reason
        assert (found["status"].get("message", {}).get("metadata") == {"code": "broken"}) == (core.status == "error")
    if core.output is not None:
        artifacts = {each["artifactId"]: each["parts"] for each in found["artifacts"]}
        files = core.output.files or []
        assert [artifacts[file.id][0]["url"] for file in files] == [f"http://server/api/files/{f.id}" for f in files]
        assert found.get("metadata", {}).get("sources", []) == core.output.sources
        assert artifacts.get("outputs", [{"data": {}}])[0]["data"] == core.output.outputs


def expected_result(call: CallState) -> dict[str, Any]:
    found = {"id": call.call_id, "name": call.tool, "output": call.output}
    return found if call.error is None else {**found, "error": call.error}


def said_during(core: fold_state.State) -> list[list[dict[str, Any]]]:
    """Return what users said while the run was under way: answers to waits, and messages that the agent took. A wait
    that expired has no answer."""
    said = [(each.taken_seq or 0, [{"text": each.text}]) for each in core.received if each.taken_seq is not None]
    for wait in core.waits.values():
        if wait.answered_seq is None or wait.kind in ("child", "timer", "event") or wait.state == "expired":
            continue
        value: Any = wait.value
        if wait.kind in ("tool", "unknown_outcome", "confirmation"):
            value = {"approved": wait.state == "approved"} | ({} if wait.reason is None else {"reason": wait.reason})
        elif wait.state == "failed":
            value = {"error": wait.reason}
        part = {"text": value} if isinstance(value, str) else {"data": value, "mediaType": "application/json"}
        said.append((wait.answered_seq, [part]))
    return [parts for _, parts in sorted(said, key=lambda each: each[0])]


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_reader_of_the_stream_has_the_task_that_get_task_returns(events: list[Event]) -> None:
    parts = translated(events)[0].state.part
    for part in range(1, parts + 1):
        shown = sent(events, part)
        assert list(shown[0]) == ["task"]
        assert all(each.keys() <= {"statusUpdate", "artifactUpdate"} for each in shown[1:])
        states = [each["statusUpdate"]["status"]["state"] for each in shown[1:] if "statusUpdate" in each]
        assert not set(states[:-1]) & CLOSING, "nothing comes after the end of a stream"
    assert same(read(sent(events, parts))) == same(now(events))


@given(logs, st.integers(0, 80))
def test_a_reader_that_subscribes_at_any_event_has_the_same_task_as_one_that_never_left(
    events: list[Event], cut: int
) -> None:
    after = max(1, min(cut, len(events)))
    while len(read_events := events[:after]) < len(events):
        shown = subscribed(events, after)
        assert shown[0] == {"task": now(read_events)}
        reached = after
        for end in range(after + 1, len(events) + 1):  # the event with which this subscription ends
            reached = end
            if len(subscribed(events[:end], after)) == len(shown):
                break
        assert same(read(shown)) == same(now(events[:reached]))
        after = reached


@given(logs, st.integers(0, 80))
def test_sent_updates_stay_the_same_when_the_log_grows(events: list[Event], cut: int) -> None:
    before = sent(events[:cut])
    assert sent(events)[: len(before)] == before
