"""Core events as the events of the chats face. Pure: an event is all it needs, and whether its agent tells its thinking
twice.

A frame has the event's seq as its id, so that a client that was cut off can attach where it was. Tokens have no word
here (C18): the answer comes whole. What an agent thinks is told piece by piece, unless its messages tell it whole:
then those do. A tool that a person refused was never called and has no result here; `rejected` says it all (C20).
"""

import re
from collections.abc import Callable
from typing import Any, assert_never

import msgspec
from msgspec import UNSET

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelMessage,
    ModelThinking,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    ToolFinished,
    ToolStarted,
)
from runyard.domain.run import Status
from runyard.faces.chats.wire import (
    AgentEvent,
    AnswerEvent,
    EventName,
    InteractionStatus,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
)

Shown = tuple[EventName, dict[str, Any]]
_encode = msgspec.json.Encoder().encode
_INTERACTION = re.compile(r"int_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

STATUS: dict[Status, InteractionStatus] = {
    Status.QUEUED: InteractionStatus.RUNNING,
    Status.RUNNING: InteractionStatus.RUNNING,
    Status.WAITING: InteractionStatus.WAITING_APPROVAL,
    Status.DONE: InteractionStatus.COMPLETED,
    Status.ERROR: InteractionStatus.FAILED,
    Status.CANCELED: InteractionStatus.CANCELLED,
}


def interaction_id(run_id: str) -> str:
    return f"int_{run_id}"


def run_id_of(given: str) -> str | None:
    """The run that this interaction is, if it can be one."""
    found = _INTERACTION.fullmatch(given)
    return found[1] if found else None


def frames(repeats_its_thinking: bool) -> Callable[[Event], bytes]:
    """How the events of such an agent's run look on the wire."""

    def frame(event: Event) -> bytes:
        shown = image(event, repeats_its_thinking)
        if shown is None:
            return b""
        return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, shown[0].encode(), _encode(shown[1]))

    return frame


def image(event: Event, repeats_its_thinking: bool) -> Shown | None:
    """The event as this face tells it; nothing for what it has no word for."""
    match event.type:
        case "run.queued":
            status = InteractionStatus.RUNNING.value
            return "interaction_started", {"interaction_id": interaction_id(event.run_id), "status": status}
        case "approval.requested" | "approval.decided":
            return _approval(event)
        case "run.error" | "run.canceled" | "run.finished":
            return _end(event)
        case "model.thinking" | "model.message" | "tool.started" | "tool.finished" | "run.output":
            told = agent_event(event, repeats_its_thinking)
            return None if told is None else (_NAMES[type(told)], _fields(told))
        case (
            "run.resumed"
            | "step.started"
            | "step.finished"
            | "model.token"
            | "model.reset"
            | "tool.requested"
            | "tool.output"
            | "run.waiting"
            | "trace"
        ):
            return None
        case _:
            assert_never(event.type)


_NAMES: dict[type[AgentEvent], EventName] = {
    ToolCallEvent: "tool_call",
    ToolResultEvent: "tool_result",
    ThinkingEvent: "thinking",
    AnswerEvent: "answer",
}


def _fields(told: AgentEvent) -> dict[str, Any]:
    return vars(told) | {"type": told.type.value}


def agent_event(event: Event, repeats_its_thinking: bool) -> AgentEvent | None:
    """One of the four kinds that an interaction keeps."""
    match event.payload:
        case ModelThinking(text) if not repeats_its_thinking and text:
            return ThinkingEvent(content=text)
        case ModelMessage(message=message):
            thought = _thought(message)
            return ThinkingEvent(content=thought) if thought else None
        case ToolStarted(call_id, tool, given):
            return ToolCallEvent(id=call_id, tool_name=tool, tool_input=_text(given))
        case ToolFinished(error="rejected"):
            return None
        case ToolFinished(call_id, tool, output, error):
            failed = error is not None and output is None
            return ToolResultEvent(
                id=call_id, tool_name=tool, tool_output=f"Error executing tool: {error}" if failed else _text(output)
            )
        case RunOutput(text=text, last=last):
            return AnswerEvent(content=text if last is UNSET else last)
        case _:
            return None


def _thought(message: dict[str, Any]) -> str:
    """The reasoning of a message, and what it says beside its tool calls; the answer itself is not thinking."""
    said = message.get("content") if message.get("tool_calls") else None
    parts = (message.get("reasoning_content"), said)
    return "\n\n".join(part for part in parts if isinstance(part, str) and part.strip())


def _approval(event: Event) -> Shown:
    match event.payload:
        case ApprovalRequested(approval, _, kind, tool, given):
            asks = kind == "question" and isinstance(given, dict) and isinstance(given.get("question"), str)
            action = given["question"] if asks else tool
            data = {"approval_id": approval, "action": action, "tool_name": tool}
            return "approval_required", {**data, "tool_input": _text(given), "kind": kind}
        case ApprovalDecided(approval, "approved"):
            return "approved", {"approval_id": approval}
        case ApprovalDecided(approval, decision, _, _, reason):
            why = "expired" if decision == "expired" else reason
            return "rejected", {"approval_id": approval} | ({"reason": why} if why else {})
        case _:
            raise AssertionError(event.type)


def _end(event: Event) -> Shown:
    name = interaction_id(event.run_id)
    match event.payload:
        case RunError(code, message):
            return "error", {"error": message, "code": code}
        case RunCanceled(reason):
            return "cancelled", {"interaction_id": name, "reason": reason}
        case RunFinished(status):
            return "interaction_complete", {"interaction_id": name, "status": STATUS[Status(status)].value}
        case _:
            raise AssertionError(event.type)


def _text(value: Any) -> str:
    """Tool data is always text on this wire (C19)."""
    return value if isinstance(value, str) else msgspec.json.format(_encode(value), indent=0).decode()
