"""Translates core events to the frames of the plans face. Pure: needs only an event and the run's name.

Every core event has a frame, so a client sees every seq. No frame carries content: fields are copied one by one, and
`data` is read only for the code of an error. `source` is always `outbox`, which publishes the events; the database row
says which part of the server wrote them.

The type is in the data, and every frame is a `message`: an EventSource gets all of them in `onmessage`, with the seq as
the last event id.
"""

import re
from collections.abc import Callable
from typing import assert_never

import msgspec

from runyard.domain.events import Event, RunError
from runyard.faces.plans.wire import EventName, PlanEvent

_encode = msgspec.json.Encoder().encode
_CODE = re.compile(r"[a-z0-9_.-]{1,64}", re.ASCII)


def frames_of(run_id: str) -> Callable[[Event], bytes]:
    """Return the encoder for a run whose client calls it `run_id`."""

    def frame(event: Event) -> bytes:
        return b"id: %d\nevent: message\ndata: %b\n\n" % (event.seq, _encode(image(run_id, event)))

    return frame


def image(run_id: str, event: Event) -> PlanEvent:
    kind = _name(event)
    name = event.name if kind in ("NodeStarted", "NodeFinished") else None
    fn = _fn(event) if kind == "DebugTrace" else None
    return PlanEvent(run_id, event.seq, event.ts, kind, event.v, "outbox", name, fn)


def _name(event: Event) -> EventName:
    match event.type:
        case "run.queued":
            return "RunStarted"
        case "step.started":
            return "NodeStarted"
        case "step.finished":
            return "NodeFinished"
        case "run.finished":
            return "RunFinished"
        case (
            "run.resumed"
            | "message.received"
            | "message.taken"
            | "model.thinking"
            | "model.token"
            | "model.reset"
            | "model.message"
            | "tool.requested"
            | "approval.requested"
            | "approval.decided"
            | "wait.requested"
            | "wait.answered"
            | "tool.started"
            | "tool.output"
            | "tool.finished"
            | "run.waiting"
            | "trace"
            | "run.output"
            | "run.error"
            | "run.canceled"
        ):
            return "DebugTrace"
        case _:
            assert_never(event.type)


def _fn(event: Event) -> str:
    """Return the name of a trace, the code of an error, a word for a cancel, or else the core event's type."""
    match event.type:
        case "trace":
            return event.fn or event.type
        case "run.error":
            failed = event.payload
            known = isinstance(failed, RunError) and _CODE.fullmatch(failed.code)
            return f"error:{known[0]}" if known else "error"
        case "run.canceled":
            return "orchestrator.cancelled"
        case _:
            return event.type
