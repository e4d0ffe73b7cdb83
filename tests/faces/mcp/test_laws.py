"""Laws of the translation to MCP, over random logs."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from mcp.types import CallToolResult, ElicitRequest, InputRequiredResult, JSONRPCMessage, Task
from pydantic import TypeAdapter

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from runyard.faces.mcp import objects
from runyard.faces.mcp.files import address
from runyard.faces.mcp.follow import Call
from tests.faces.mcp.test_translate import PLAIN, SESSION, STATELESS, frames, messages, said, state_of
from tests.faces.samples.random_logs import every_kind, logs

calls = st.sampled_from([SESSION, PLAIN, STATELESS])


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_a_call_has_the_text_the_tools_and_the_end_of_the_fold(events: list[Event]) -> None:
    core, found = fold(events), messages(events, SESSION)
    responses = [each["result"] for each in found if each.get("id") == SESSION.id]
    assert len(responses) == (core.stop_reason is not None)
    if responses:
        assert responses[0]["isError"] == (core.status != "done")
        if core.output is not None and core.status == "done":
            found_content = list(responses[0]["content"])
            files = core.output.files or []
            if core.output.text or not files:
                assert found_content.pop(0) == {"type": "text", "text": core.output.text}
            if core.output.sources:
                assert all(source in found_content[0]["text"] for source in core.output.sources)
                del found_content[0]
            assert [each["uri"] for each in found_content] == [address(file.id) for file in files]
            assert responses[0].get("structuredContent", {}) == core.output.outputs
        if core.status == "error":
            assert responses[0]["content"] == [{"type": "text", "text": "Broken. (broken)"}]
    started = [event for event in events if event.type == "tool.started"]
    assert sum(each == "Calling tool" for each in said(found)) == len(started)
    assert len([each for each in said(found) if each in ("tool returned", "tool failed")]) == len(
        [call for call in core.calls if call.status == "finished"]
    )
    numbers = [each["params"]["progress"] for each in found if each.get("method") == "notifications/progress"]
    assert numbers == list(range(1, len(numbers) + 1))


@given(logs)
@example(every_kind("rich"))
@example(every_kind("error"))
def test_the_parts_of_a_stateless_client_are_the_call_of_one_with_a_session(events: list[Event]) -> None:
    parts = [
        messages(events, Call(part, "p", asks=True, is_stateless=True, part=part))
        for part in range(1, state_of(events).part + 1)
    ]
    whole = messages(events, SESSION)
    assert [each for part in parts for each in said(part)] == said(whole)
    asked = {each["id"] for each in whole if each.get("method") == "elicitation/create"}
    answers = [part[-1]["result"] for part in parts if part and "result" in part[-1]]
    assert {wait for answer in answers for wait in answer.get("inputRequests", ())} == asked
    last = [each for each in whole if each.get("id") == SESSION.id]
    assert [answer["content"] for answer in answers if answer["resultType"] == "complete"] == [
        each["result"]["content"] for each in last
    ]


@given(logs, st.integers(0, 60))
def test_a_client_that_comes_back_gets_exactly_the_rest(events: list[Event], seen: int) -> None:
    for call in (SESSION, PLAIN):
        whole = frames(events, call)
        assert frames(events, call, after=seen) == whole[seen:]


@given(logs, st.integers(0, 80), calls)
def test_sent_messages_stay_the_same_when_the_log_grows(events: list[Event], cut: int, call: Call) -> None:
    before = messages(events[:cut], call)
    assert messages(events, call)[: len(before)] == before


MESSAGE: TypeAdapter[Any] = TypeAdapter(JSONRPCMessage)


@given(logs, calls)
def test_the_types_of_the_library_accept_every_message(events: list[Event], call: Call) -> None:
    for each in messages(events, call):
        MESSAGE.validate_python(each)
        if each.get("method") == "elicitation/create":
            ElicitRequest.model_validate({name: each[name] for name in ("method", "params")})
        elif "result" in each and each["result"].get("resultType") == "input_required":
            found = InputRequiredResult.model_validate(each["result"])
            assert set(found.input_requests or ()) == set(each["result"]["inputRequests"])
        elif "result" in each:
            CallToolResult.model_validate(each["result"])


@given(logs, st.booleans())
@example(every_kind("rich"), True)
@example(every_kind("error"), False)
def test_a_task_is_the_call_so_far(events: list[Event], asks: bool) -> None:
    """The package has the task of the older revision, whose fields have other names for two of them."""
    for end in range(1, len(events) + 1):
        state = state_of(events[:end])
        found = objects.task(state, 1_700_000_000_000, asks)
        typed = Task.model_validate({**found, "ttl": found["ttlMs"], "pollInterval": found["pollIntervalMs"]})
        core = fold(events[:end])
        if core.stop_reason is not None:
            assert typed.status == ("cancelled" if core.status == "canceled" else "completed")
            if core.status != "canceled":
                result = CallToolResult.model_validate(found["result"])
                assert result.is_error == (core.status == "error")
                assert found["result"] == objects.result(state)
            continue
        waiting = {
            key
            for key, wait in core.waits.items()
            if wait.answered_seq is None and wait.kind not in ("child", "timer", "event")
        }
        assert typed.status == ("input_required" if waiting and asks else "working")
        assert bool(typed.status_message) == bool(waiting and not asks)
        asked = found.get("inputRequests", {})
        assert set(asked) == (waiting if asks else set())
        for request in asked.values():
            ElicitRequest.model_validate(request)
