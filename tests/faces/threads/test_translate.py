"""Core events to frames of the threads face: a pure function, every cell of its column."""

from typing import Any

import pytest

from runyard.domain.events import EVENT_TYPES, EventType, Payload, RunFinished, ToolFinished, ToolStarted
from runyard.faces.threads.translate import frame
from tests.faces.samples.sample_events import EVENTS, event, numbered

COLUMN: dict[EventType, bytes] = {
    "run.queued": b"",
    "run.resumed": b"",
    "message.received": b"",
    "message.taken": b"",
    "step.started": b"",
    "step.finished": b"",
    "model.thinking": b"",
    "model.token": 'event: token\ndata: {"text":"Grüße\\n"}\n\n'.encode(),
    "model.reset": b'event: token\ndata: {"text":"","reset":true,"after":3}\n\n',
    "model.message": b"",
    "tool.requested": b"",
    "approval.requested": b"",
    "approval.decided": b"",
    "wait.requested": b"",
    "wait.answered": b"",
    "tool.started": b'event: tool_start\ndata: {"tool":"mail","input":{"to":"bob"}}\n\n',
    "tool.output": b"",
    "tool.finished": b'event: tool_end\ndata: {"tool":"mail","output":{"sent":true}}\n\n',
    "run.waiting": b"",
    "trace": b"",
    "run.output": 'event: final\ndata: {"text":"Grüße","sources":["cv_001"]}\n\n'.encode(),
    "run.error": b'event: error\ndata: {"error":"It broke."}\n\n',
    "run.canceled": b'event: canceled\ndata: {"reason":"requested"}\n\n',
    "run.finished": b'event: state\ndata: {"status":"done"}\n\n',
}


def test_every_core_event_is_in_the_column() -> None:
    assert tuple(COLUMN) == EVENT_TYPES
    assert [one.type for one in EVENTS] == list(EVENT_TYPES)


@pytest.mark.req("S0.16", "S0.18", "S0.19", "S0.20", "S0.21", "S0.22", "S0.23")
@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_a_core_event_becomes_the_frame_of_its_cell_or_none(kind: EventType) -> None:
    [found] = [one for one in EVENTS if one.type == kind]
    assert frame(found) == numbered(found, COLUMN[kind])


@pytest.mark.req("S0.22")
@pytest.mark.parametrize("status", ["done", "error", "canceled"])
def test_a_state_has_the_status_and_nothing_else(status: Any) -> None:
    assert frame(event(RunFinished(status, "x"))) == b'id: 1\nevent: state\ndata: {"status":"%b"}\n\n' % status.encode()


@pytest.mark.req("S0.19", "S0.20")
@pytest.mark.parametrize(
    ("payload", "data"),
    [
        (ToolStarted("c", "t", {}), b'{"tool":"t","input":{}}'),
        (ToolStarted("c", "t", [1]), b'{"tool":"t","input":{"result":[1]}}'),
        (ToolFinished("c", "t", {"a": None}), b'{"tool":"t","output":{"a":null}}'),
        (ToolFinished("c", "t", None), b'{"tool":"t","output":{"result":null}}'),
        (ToolFinished("c", "t", "text"), b'{"tool":"t","output":{"result":"text"}}'),
        (ToolFinished("c", "t", None, "timeout", 3), b'{"tool":"t","output":{"error":"timeout"}}'),
    ],
)
def test_tool_data_that_is_no_object_is_wrapped_in_one(payload: Payload, data: bytes) -> None:
    assert frame(event(payload)).split(b"data: ")[1] == data + b"\n\n"


@pytest.mark.req("S0.11")
def test_a_frame_carries_the_seq_of_its_event() -> None:
    for seq in (1, 9, 10, 2**31, 2**53):
        assert frame(event(RunFinished("done", "x"), seq)).startswith(b"id: %d\n" % seq)
