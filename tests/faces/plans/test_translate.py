"""Core events to frames of the plans face: a pure function, every cell of its column, and never a word of content."""

from typing import Any, get_args

import msgspec
import pytest

from runyard.domain.events import EVENT_TYPES, Event, EventType, Payload, RunError, StepStarted, Trace
from runyard.faces.plans.translate import frames_of, image
from runyard.faces.plans.wire import EventName, PlanEvent
from tests.faces.samples.sample_events import EVENTS, RUN_ID, event

frame = frames_of("my-run")

# The type of the frame, and the name or fn that it carries.
COLUMN: dict[EventType, tuple[str, dict[str, str]]] = {
    "run.queued": ("RunStarted", {}),
    "run.resumed": ("DebugTrace", {"fn": "run.resumed"}),
    "message.received": ("DebugTrace", {"fn": "message.received"}),
    "message.taken": ("DebugTrace", {"fn": "message.taken"}),
    "step.started": ("NodeStarted", {"name": "look up"}),
    "step.finished": ("NodeFinished", {"name": "look up"}),
    "model.thinking": ("DebugTrace", {"fn": "model.thinking"}),
    "model.token": ("DebugTrace", {"fn": "model.token"}),
    "model.reset": ("DebugTrace", {"fn": "model.reset"}),
    "model.message": ("DebugTrace", {"fn": "model.message"}),
    "tool.requested": ("DebugTrace", {"fn": "tool.requested"}),
    "approval.requested": ("DebugTrace", {"fn": "approval.requested"}),
    "approval.decided": ("DebugTrace", {"fn": "approval.decided"}),
    "wait.requested": ("DebugTrace", {"fn": "wait.requested"}),
    "wait.answered": ("DebugTrace", {"fn": "wait.answered"}),
    "tool.started": ("DebugTrace", {"fn": "tool.started"}),
    "tool.output": ("DebugTrace", {"fn": "tool.output"}),
    "tool.finished": ("DebugTrace", {"fn": "tool.finished"}),
    "run.waiting": ("DebugTrace", {"fn": "run.waiting"}),
    "trace": ("DebugTrace", {"fn": "here"}),
    "run.output": ("DebugTrace", {"fn": "run.output"}),
    "run.error": ("DebugTrace", {"fn": "error:broken"}),
    "run.canceled": ("DebugTrace", {"fn": "orchestrator.cancelled"}),
    "run.finished": ("RunFinished", {}),
}


def test_every_core_event_is_in_the_column() -> None:
    assert tuple(COLUMN) == EVENT_TYPES
    assert [one.type for one in EVENTS] == list(EVENT_TYPES)


@pytest.mark.req("S4.5", "S4.6", "S4.22")
@pytest.mark.parametrize("found", EVENTS, ids=lambda found: found.type)
def test_a_core_event_becomes_the_frame_of_its_cell_byte_for_byte(found: Event) -> None:
    kind, more = COLUMN[found.type]
    data = {"runId": "my-run", "seq": found.seq, "ts": found.ts, "type": kind, "v": 1, "source": "outbox", **more}
    assert frame(found) == b"id: %d\nevent: message\ndata: %b\n\n" % (found.seq, msgspec.json.encode(data))


@pytest.mark.req("S4.5")
def test_there_are_exactly_five_types() -> None:
    assert get_args(EventName) == ("RunStarted", "NodeStarted", "DebugTrace", "NodeFinished", "RunFinished")
    assert {kind for kind, _ in COLUMN.values()} == set(get_args(EventName))


@pytest.mark.req("S4.22")
def test_a_frame_has_the_canonical_fields_and_no_others() -> None:
    names = [field.encode_name for field in msgspec.structs.fields(PlanEvent)]
    assert names == ["runId", "seq", "ts", "type", "v", "source", "name", "fn"]


MARKER = "what the user said"


@pytest.mark.req("S4.22")
@pytest.mark.parametrize("found", EVENTS, ids=lambda found: found.type)
def test_no_content_gets_into_a_frame(found: Event) -> None:
    """The frame is the same for any data, and where the data has a code, it must look like one."""
    marked = msgspec.structs.replace(found, data=msgspec.json.encode(full_of_markers(msgspec.json.decode(found.data))))
    told = frame(marked)
    assert MARKER.encode() not in told
    assert RUN_ID.encode() not in told, "the run has the name that its client gave it"
    assert told == frame(found).replace(b"error:broken", b"error")


def full_of_markers(value: Any) -> Any:
    match value:
        case str():
            return MARKER
        case list():
            return [full_of_markers(one) for one in value]
        case dict():
            return {key: full_of_markers(one) for key, one in value.items()}
        case _:
            return value


@pytest.mark.req("S4.11")
@pytest.mark.parametrize("source", ["api", "worker"])
def test_the_source_on_the_wire_is_always_the_outbox(source: Any) -> None:
    written = msgspec.structs.replace(EVENTS[0], source=source)
    assert image("my-run", written).source == "outbox"


@pytest.mark.req("S4.6")
def test_a_node_is_sent_by_its_name() -> None:
    assert image("my-run", event(StepStarted("EnsureDevice", "EnsureDevice"))).name == "EnsureDevice"
    assert image("my-run", event(Trace("ensureDevice.check"))).fn == "ensureDevice.check"


@pytest.mark.req("S4.22")
@pytest.mark.parametrize(
    ("payload", "fn"),
    [
        (RunError("node_timeout", "The node Ping took longer than 10 s."), "error:node_timeout"),
        (RunError("what the user said", "..."), "error"),
        (RunError("", ""), "error"),
        (RunError("x" * 65, ""), "error"),
    ],
)
def test_an_error_with_a_code_is_sent_as_its_code(payload: Payload, fn: str) -> None:
    assert image("my-run", event(payload)).fn == fn


@pytest.mark.req("S4.2")
def test_a_frame_carries_the_seq_of_its_event_and_the_milliseconds_of_its_clock() -> None:
    for seq in (1, 9, 10, 2**31, 2**53):
        found = event(Trace("x"), seq)
        assert frame(found).startswith(b"id: %d\n" % seq)
        assert (image("my-run", found).seq, image("my-run", found).ts) == (seq, 1_700_000_000_000)
