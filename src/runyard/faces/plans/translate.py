"""Core events as the frames of the plans face. Pure: an event and the run's name are all it needs.

Every core event has an image here, so a reader sees every seq. None of them carries content: the envelope's columns
are copied one by one, `data` is looked at only for the code of an error. The source is always `outbox`, in old events
and new ones alike, because that is who published them; the row keeps who wrote them.

The type stands in the data, and every frame is a `message`: an EventSource gets all of them in `onmessage`, with the
seq as its last event id.
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
    """How the events of a run look that its client calls `run_id`."""

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
            | "model.thinking"
            | "model.token"
            | "model.reset"
            | "model.message"
            | "tool.requested"
            | "approval.requested"
            | "approval.decided"
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
    """A mark as the agent named it; how a run failed or that it was cancelled; otherwise the core's own name."""
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
