"""Core events to frames of the chats face: a pure function, every cell of its column."""

from uuid import UUID

import pytest

from runyard.base.ids import new_approval_id, new_id
from runyard.domain.events import (
    EVENT_TYPES,
    ApprovalDecided,
    EventType,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    Payload,
    RunFinished,
    RunOutput,
    ToolFinished,
)
from runyard.domain.runs.run import Status
from runyard.faces.chats.translate import STATUS, frames, interaction_id, run_id_of
from tests.faces.samples.sample_events import EVENTS, RUN_ID, event, numbered

ME = interaction_id(RUN_ID).encode()
IT = b"approval"
COLUMN: dict[EventType, bytes] = {
    "run.queued": b'event: interaction_started\ndata: {"interaction_id":"%b","status":"RUNNING"}\n\n' % ME,
    "run.resumed": b"",
    "message.received": b"",
    "message.taken": b"",
    "step.started": b"",
    "step.finished": b"",
    "model.thinking": b"",
    "model.token": b"",
    "model.reset": b"",
    "model.message": b"",
    "tool.requested": b"",
    "approval.requested": b'event: approval_required\ndata: {"approval_id":"%b","action":"mail",'
    b'"tool_name":"mail","tool_input":"{\\"to\\": \\"ann\\"}","kind":"tool"}\n\n' % IT,
    "approval.decided": b'event: approved\ndata: {"approval_id":"%b"}\n\n' % IT,
    "wait.requested": b"",
    "wait.answered": b"",
    "tool.started": b'event: tool_call\ndata: {"type":"TOOL_CALL","id":"call#1","tool_name":"mail",'
    b'"tool_input":"{\\"to\\": \\"bob\\"}"}\n\n',
    "tool.output": b"",
    "tool.finished": b'event: tool_result\ndata: {"type":"TOOL_RESULT","id":"call#1","tool_name":"mail",'
    b'"tool_output":"{\\"sent\\": true}"}\n\n',
    "run.waiting": b"",
    "trace": b"",
    "run.output": 'event: answer\ndata: {"type":"ANSWER","content":"Grüße"}\n\n'.encode(),
    "run.error": b'event: error\ndata: {"error":"It broke.","code":"broken"}\n\n',
    "run.canceled": b'event: cancelled\ndata: {"interaction_id":"%b","reason":"requested"}\n\n' % ME,
    "run.finished": b'event: interaction_complete\ndata: {"interaction_id":"%b","status":"COMPLETED"}\n\n' % ME,
}
whole, pieces = frames(True), frames(False)


def test_every_core_event_is_in_the_column() -> None:
    assert tuple(COLUMN) == EVENT_TYPES


@pytest.mark.req("S1.9", "S1.11", "S1.12", "S1.13", "S1.18")
@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_a_core_event_becomes_the_frame_of_its_cell_or_none(kind: EventType) -> None:
    [found] = [one for one in EVENTS if one.type == kind]
    assert frames(True)(found) == numbered(found, COLUMN[kind])


@pytest.mark.req("S1.5")
def test_every_status_has_its_word() -> None:
    assert {status.value: word.value for status, word in STATUS.items()} == {
        "queued": "RUNNING", "running": "RUNNING", "waiting": "WAITING_APPROVAL", "done": "COMPLETED",
        "error": "FAILED", "canceled": "CANCELLED",
    }  # fmt: skip
    assert set(STATUS) == set(Status)


@pytest.mark.req("S1.9")
def test_thinking_is_told_once_in_pieces_or_whole() -> None:
    piece = event(ModelThinking("hm"))
    whole = frames(True)
    said = event(ModelMessage("s", {"role": "assistant", "content": "Let me see.", "reasoning_content": "hm",
                                    "tool_calls": [{"id": "1"}]}))  # fmt: skip
    answered = event(ModelMessage("s", {"role": "assistant", "content": "It is so."}))
    assert b'{"type":"THINKING","content":"hm"}' in pieces(piece)
    assert whole(piece) == b""
    assert b'"content":"hm\\n\\nLet me see."' in whole(said)
    assert whole(answered) == b"", "an answer is no thought"


@pytest.mark.req("S1.9", "S1.49")
def test_reasoning_is_told_when_it_ends_and_once_in_a_turn() -> None:
    whole = frames(True)
    said = {"role": "assistant", "content": "Let me see.", "reasoning_content": "hm, so", "tool_calls": [{"id": "1"}]}
    turn: list[Payload] = [ModelThinking("hm, "), ModelThinking("so"), ModelToken("Let "), ModelToken("me see.")]
    assert [whole(event(each)) != b"" for each in turn] == [False, False, True, False]
    assert b'"content":"Let me see."' in whole(event(ModelMessage("s", said))), "the reasoning is not repeated"
    [_, _, told, _] = [whole(event(each)) for each in turn]
    assert b'{"type":"THINKING","content":"hm, so"}' in told, "a new turn tells its own"


@pytest.mark.req("S1.9", "S1.49")
def test_a_turn_that_is_begun_again_does_not_tell_its_reasoning_again() -> None:
    whole = frames(True)
    cut: list[Payload] = [ModelThinking("hm"), ModelReset(), ModelThinking("ah"), ModelToken("It "), ModelReset()]
    message = ModelMessage("s", {"role": "assistant", "reasoning_content": "oh"})
    turn: list[Payload] = [*cut, ModelThinking("oh"), ModelToken("It "), message]
    told = [frame for each in turn if (frame := whole(event(each)))]
    assert len(told) == 1
    assert b'"content":"ah"' in told[0]


@pytest.mark.req("S1.13")
@pytest.mark.parametrize("why", ["max_steps", "max_tokens_exceeded", "invalid_tool_call"])
def test_the_end_of_an_interaction_that_a_limit_stopped_says_so(why: str) -> None:
    told = whole(event(RunFinished("done", why)))
    assert b'"status":"COMPLETED","stop_reason":"%b","message":"The agent stopped early: ' % why.encode() in told
    assert b"stop_reason" not in whole(event(RunFinished("done", "end_turn")))
    assert b"stop_reason" not in whole(event(RunFinished("error", "max_tokens_exceeded")))


@pytest.mark.req("S1.23", "S1.41")
@pytest.mark.req("S1.14")
def test_text_that_was_shown_as_thinking_is_not_repeated_as_the_answer() -> None:
    said = event(RunOutput("I must ask.\n\nIt is done.", last="It is done."))
    assert b'"content":"It is done."' in whole(said)


def test_a_rejected_call_has_no_result_and_a_failed_one_says_so() -> None:
    assert whole(event(ToolFinished("c", "t", "no", "rejected"))) == b""
    assert b'"tool_output":"Error executing tool: ValueError"' in whole(
        event(ToolFinished("c", "t", None, "ValueError"))
    )
    assert b'"reason":"expired"' in whole(event(ApprovalDecided("a" * 36, "expired", "runyard")))


@pytest.mark.req("S1.18")
def test_ids_go_there_and_back_and_an_approval_has_a_uuid_of_version_4() -> None:
    core = new_id()
    approval = new_approval_id()
    assert UUID(approval.removeprefix("approval_")).version == 4
    assert approval < new_approval_id(), "a page of approvals is sorted by their ids"
    assert run_id_of(interaction_id(core)) == core
    for strange in ("", core, "int_", f"int_{core}/..", "int_001"):
        assert run_id_of(strange) is None
