"""Laws of the translation to responses, over random logs."""

from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from runyard.domain.events import Event, RunWaiting
from runyard.domain.state.fold import fold
from runyard.faces.openai.chat_translate import completion
from runyard.faces.openai.translate import Translation
from tests.faces.openai.test_translate import chunks, sent_after, streamed, text_of, translated
from tests.faces.samples.expected import Result, results
from tests.faces.samples.random_logs import every_kind, logs
from tests.faces.samples.sample_events import RUN_ID


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_responses_have_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    translation, _ = translated(events)
    state, core = translation.state, fold(events)
    parts = [response for n in range(1, state.part + 1) if (response := translation.response(n)) is not None]
    items = [item for part in parts for item in part["output"]]

    if core.stop_reason is not None:
        said = core.text if core.output is None else core.output.text
        if core.output is None or core.output.text == core.text:
            assert "".join(map(text_of, parts)).replace("\n", "") == said.replace("\n", "")
        else:
            assert text_of(parts[-1]).replace("\n", "") == said.replace("\n", "")
        assert parts[-1]["error"] == (
            {"code": "server_error", "message": "Broken. (broken)"} if core.status == "error" else None
        )
        if core.output is not None:
            assert parts[-1]["runyard"]["sources"] == core.output.sources
            files = msgspec.to_builtins(core.output.files or [])
            assert parts[-1]["runyard"].get("files", []) == files
        assert {"done": {"completed", "incomplete"}, "error": {"failed"}, "canceled": {"cancelled"}}[core.status] >= {
            parts[-1]["status"]
        }
    assert sorted(shown_results(translation, items)) == sorted(results(events))
    handed = [item["call_id"] for item in items if item["type"] == "function_call"]
    waited = {wait for event in events if isinstance(paused := event.payload, RunWaiting) for wait in paused.waits}
    expected = [key for key, wait in core.waits.items() if wait.kind == "client_tool" and key in waited]
    assert handed == expected
    assert [part["id"] for part in parts] == [
        f"resp_{RUN_ID}" + (f"_{n}" if n > 1 else "") for n in range(1, len(parts) + 1)
    ]


def shown_results(translation: Translation, items: list[dict[str, Any]]) -> list[Result]:
    """Return the finished calls of responses: those of the server, and those that the client has answered."""
    found = list[Result]()
    for item in items:
        if item["type"] == "mcp_call" and item["status"] in ("completed", "failed"):
            is_error = item["status"] == "failed"
            said = item["error"]["content"][0]["text"] if is_error else item["output"]
            found.append(Result(item["name"], item["arguments"], said, is_error))
        if item["type"] == "function_call":
            output = translation.state.handed[item["call_id"]].output  # an item of the input of the next response
            if output is not None:
                found.append(Result(item["name"], item["arguments"], output, output in ("It broke.", "expired")))
    return found


@given(logs, st.integers(-1, 60))
def test_a_reader_that_reconnects_at_any_position_gets_exactly_the_rest(events: list[Event], after: int) -> None:
    translation, _ = translated(events)
    for part in range(1, translation.state.part + 1):
        whole = sent_after(events, part, -1)
        assert [each["sequence_number"] for each in whole] == list(range(len(whole)))
        assert sent_after(events, part, after) == [each for each in whole if each["sequence_number"] > after]


@given(logs, st.integers(0, 80))
def test_sent_events_stay_the_same_when_the_log_grows(events: list[Event], cut: int) -> None:
    _, before = translated(events[:cut])
    _, after = translated(events)
    assert after[: len(before)] == before


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_stream_of_chunks_has_the_text_of_its_completion(events: list[Event]) -> None:
    translation, _ = translated(events)
    for part, response in enumerate(translation.state.ended, 1):
        found, is_done = chunks(events, part)
        assert is_done
        if "error" in found[-1] or translation.state.is_replaced:
            continue
        [choice] = completion(response, response["id"])["choices"]
        assert streamed(found) == (choice["message"]["content"] or "")
        assert found[-1]["choices"][0]["finish_reason"] == choice["finish_reason"]
