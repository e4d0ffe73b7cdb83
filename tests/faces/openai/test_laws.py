"""Laws of the translation to responses, over random logs."""

from collections.abc import Iterator

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    Payload,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunResumed,
    RunWaiting,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    Trace,
    Usage,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.fold import fold
from runyard.faces.openai.chat_translate import completion
from runyard.faces.openai.state import State
from runyard.faces.openai.translate import Translation
from tests.faces.openai.test_translate import QUEUED, chunks, log, sent_after, streamed, text_of, translated
from tests.faces.sample_events import RUN_ID

_words = st.text(alphabet="ab \n", max_size=3)
_usage = st.none() | st.builds(Usage, st.integers(0, 5), st.integers(0, 5))
_blocks: st.SearchStrategy[list[Payload]] = st.one_of(
    st.builds(lambda t: [ModelToken(t)], _words),
    st.builds(lambda t: [ModelThinking(t)], _words),
    st.just([ModelReset()]),
    st.just([RunResumed(2, "crash"), ModelReset()]),
    st.builds(lambda u: [ModelMessage("s#1", {"role": "assistant"}, u)], _usage),
    st.builds(lambda u: [StepStarted("s#2", "s"), StepFinished("s#2", "s", u)], _usage),
    st.sampled_from(["server", "failing", "open", "approved", "client", "client that waits", "question"]).map(
        lambda kind: [Trace(kind)]
    ),
)
_ends: st.SearchStrategy[list[Payload]] = st.sampled_from(["done", "other text", "error", "canceled", "none"]).map(
    lambda kind: [Trace(kind)]
)


def _calls(kind: str, n: int) -> list[Payload]:
    key, wait = f"call#{n}", f"wait_{n}"
    requested, started = ToolRequested(key, "tool", {"n": n}), ToolStarted(key, "tool", {"n": n})
    asked = WaitRequested(wait, key, "client_tool", "tool", input={"n": n})
    answered: list[Payload] = [
        WaitAnswered(wait, "answered", "ann", f"result {n}"),
        ToolFinished(key, "tool", f"result {n}"),
    ]
    table: dict[str, list[Payload]] = {
        "server": [requested, started, ToolFinished(key, "tool", {"result": n})],
        "failing": [requested, started, ToolFinished(key, "tool", "broken", "error")],
        "open": [requested, started],
        "approved": [
            requested, ApprovalRequested(wait, key, "tool", "tool", {}), RunWaiting([wait]),
            ApprovalDecided(wait, "approved", "ann"), started, ToolFinished(key, "tool", n),
        ],
        "client": [requested, asked, started, *answered],
        "client that waits": [requested, asked, started, RunWaiting([wait]), *answered],
        "question": [WaitRequested(wait, key, "question", "ask", "Why?"), WaitAnswered(wait, "answered", "ann", 1)],
    }  # fmt: skip
    return table[kind]


def _end(kind: str, text: str) -> list[Payload]:
    table: dict[str, list[Payload]] = {
        "done": [RunOutput(text), RunFinished("done", "end_turn", Usage(50, 50))],
        "other text": [RunOutput("x" + text), RunFinished("done", "max_tokens_exceeded")],
        "error": [RunError("broken", "Broken."), RunFinished("error", "error")],
        "canceled": [RunCanceled("requested"), RunFinished("canceled", "cancelled")],
        "none": [],
    }
    return table[kind]


def _payloads(blocks: list[list[Payload]], end: list[Payload]) -> Iterator[Payload]:
    """Replace the marks by calls with ids of their own, and the end by one that fits the text."""
    seen: list[Payload] = [QUEUED]
    for n, block in enumerate(blocks):
        first = block[0]
        seen += _calls(first.fn, n) if isinstance(first, Trace) else block
    [mark] = end
    assert isinstance(mark, Trace)
    yield from seen
    yield from _end(mark.fn, fold(log(*seen)).text)


_logs = st.builds(lambda blocks, end: log(*_payloads(blocks, end)), st.lists(_blocks, max_size=14), _ends)


@given(_logs)
def test_responses_have_the_text_the_calls_and_the_end_of_the_fold(events: list[Event]) -> None:
    translation, _ = translated(events)
    state, core = translation.state, fold(events)
    parts = [response for n in range(1, state.part + 1) if (response := translation.response(n)) is not None]
    items = [item for part in parts for item in part["output"]]

    if core.stop_reason is not None:
        text = core.text if core.output is None else core.output.text
        if core.output is None or core.output.text == core.text:
            assert "".join(map(text_of, parts)).replace("\n", "") == text.replace("\n", "")
        else:
            assert text_of(parts[-1]).replace("\n", "") == text.replace("\n", "")
        done = [item for item in items if item["type"] == "mcp_call" and item["status"] != "incomplete"]
        waits = {wait.call_id for wait in core.waits.values() if wait.kind == "client_tool"}
        finished = [call for call in core.calls if call.status == "finished" and call.call_id not in waits]
        assert len(done) == len(finished)
        assert [item["error"] is None for item in done] == [call.error is None for call in finished]
        assert {"done": {"completed", "incomplete"}, "error": {"failed"}, "canceled": {"cancelled"}}[core.status] >= {
            parts[-1]["status"]
        }
    handed = [item["call_id"] for item in items if item["type"] == "function_call"]
    waited = {wait for event in events if isinstance(paused := event.payload, RunWaiting) for wait in paused.waits}
    expected = [key for key, wait in core.waits.items() if wait.kind == "client_tool" and key in waited]
    assert handed == expected
    assert [part["id"] for part in parts] == [
        f"resp_{RUN_ID}" + (f"_{n}" if n > 1 else "") for n in range(1, len(parts) + 1)
    ]


@given(_logs, st.integers(-1, 60))
def test_a_reader_that_reconnects_at_any_position_gets_exactly_the_rest(events: list[Event], after: int) -> None:
    translation, _ = translated(events)
    for part in range(1, translation.state.part + 1):
        whole = sent_after(events, part, -1)
        assert [each["sequence_number"] for each in whole] == list(range(len(whole)))
        assert sent_after(events, part, after) == [each for each in whole if each["sequence_number"] > after]


@given(_logs, st.integers(0, 80))
def test_what_was_sent_never_changes_when_the_log_grows(events: list[Event], cut: int) -> None:
    _, before = translated(events[:cut])
    _, after = translated(events)
    assert after[: len(before)] == before


@given(_logs, st.integers(0, 80))
def test_a_translation_goes_on_from_a_snapshot(events: list[Event], cut: int) -> None:
    first, before = translated(events[:cut])
    kept = msgspec.json.decode(msgspec.json.encode(first.state), type=State)
    second = Translation(RUN_ID, kept)
    rest = [shown for event in events[cut:] for shown in second.take(event)]
    assert before + rest == translated(events)[1]
    assert second.state == translated(events)[0].state


@given(_logs)
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
