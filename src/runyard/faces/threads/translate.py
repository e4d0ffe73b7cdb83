"""Translates core events to the frames of the threads face. Pure: needs only the events.

`model.token` is the hot path: its stored bytes are the frame's data as they are. `model.reset` is a token without text
that is marked `reset`: a resumed run writes the text again whose ids are greater than `after`. `final.text` is
authoritative.
"""

from typing import Any, assert_never

import msgspec

from runyard.domain.events import (
    Event,
    ModelReset,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    ToolFinished,
    ToolStarted,
)
from runyard.domain.runs.run import Status
from runyard.faces.threads.wire import EventName, RunStatus

_encode = msgspec.json.Encoder().encode

STATUS: dict[Status, RunStatus] = {
    Status.QUEUED: "queued",
    Status.RUNNING: "running",
    Status.WAITING: "running",
    Status.DONE: "done",
    Status.ERROR: "error",
    Status.CANCELED: "canceled",
}


def frame(event: Event) -> bytes:
    """Return the frame of an event; empty if the face does not send it."""
    match event.type:
        case "model.token":
            return b"id: %d\nevent: token\ndata: %b\n\n" % (event.seq, event.data)
        case (
            "model.reset"
            | "tool.started"
            | "tool.finished"
            | "run.output"
            | "run.error"
            | "run.canceled"
            | "run.finished"
        ):
            return _translated(event)
        case (
            "run.queued"
            | "run.resumed"
            | "message.received"
            | "message.taken"
            | "step.started"
            | "step.finished"
            | "model.thinking"
            | "model.message"
            | "tool.requested"
            | "approval.requested"
            | "approval.decided"
            | "wait.requested"
            | "wait.answered"
            | "tool.output"
            | "run.waiting"
            | "trace"
        ):
            return b""
        case _:
            assert_never(event.type)


def _translated(event: Event) -> bytes:
    match event.payload:
        case ModelReset(after=after):
            return _frame(event, "token", {"text": "", "reset": True, **({} if after is None else {"after": after})})
        case ToolStarted(tool=tool, input=given):
            return _frame(event, "tool_start", {"tool": tool, "input": _object(given)})
        case ToolFinished(tool=tool, output=output, error=error):
            return _frame(event, "tool_end", {"tool": tool, "output": {"error": error} if error else _object(output)})
        case RunOutput(text=text, sources=sources):
            return _frame(event, "final", {"text": text, "sources": sources})
        case RunError(message=message):
            return _frame(event, "error", {"error": message})
        case RunCanceled(reason=reason):
            return _frame(event, "canceled", {"reason": reason})
        case RunFinished(status=status):
            return _frame(event, "state", {"status": status})
        case _:
            raise AssertionError(event.type)


def _frame(event: Event, name: EventName, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, name.encode(), _encode(data))


def _object(value: Any) -> dict[str, Any]:
    """Wrap tool data, which is always an object in this face."""
    return value if isinstance(value, dict) else {"result": value}
