"""Tool calls."""

from typing import Any

from runyard.domain.events.base import PayloadBase


class ToolRequested(PayloadBase, frozen=True):
    """The agent requested a tool call. It may wait for an approval."""

    type = "tool.requested"
    call_id: str
    tool: str
    input: Any


class ToolStarted(PayloadBase, frozen=True):
    """A tool call starts; committed before the call. `input` is the effective input, after any edit by the approver."""

    type = "tool.started"
    call_id: str
    tool: str
    input: Any


class ToolOutput(PayloadBase, frozen=True):
    """A chunk of a tool's output while it runs, for display."""

    type = "tool.output"
    call_id: str
    text: str


class ToolFinished(PayloadBase, frozen=True):
    """A tool call ended. `error` is a code; `output` is then the message for the model. `traceback` is set if the
    tool's own code raised an error."""

    type = "tool.finished"
    call_id: str
    tool: str
    output: Any = None
    error: str | None = None
    ms: int = 0
    traceback: str | None = None
