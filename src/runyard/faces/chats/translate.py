"""Translates core events to the events of the chats face. Pure: needs only the events of a run, and whether its agent
repeats its thinking in messages.

The id of a frame is the event's seq, so that a disconnected client can resume. Tokens are not sent: the answer comes
whole. Thinking is sent piece by piece, unless the agent's messages repeat it: then `Thoughts` sends it once, when the
agent does something else. A rejected tool call has no result here; the event `rejected` replaces it.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, assert_never

import msgspec
from msgspec import UNSET

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelMessage,
    ModelReset,
    ModelThinking,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    ToolFinished,
    ToolStarted,
)
from runyard.domain.runs.run import STOPPED_EARLY, Status
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
    """Return the run id in an interaction id, or None if the id is invalid."""
    found = _INTERACTION.fullmatch(given)
    return found[1] if found else None


class Thoughts:
    """Collects the thinking of an agent whose messages repeat it, and releases it once per turn, when it ends.

    It ends at the first token of the answer, or with the message. A turn that restarts after a crash does not release
    its thinking again. Needs every event of a run, in order."""

    def __init__(self, pieces: Iterable[str] = (), is_sent: bool = False) -> None:
        self.pieces = list(pieces)
        self.is_sent = is_sent

    def take(self, event: Event) -> str | None:
        """Return the thinking that ends with this event."""
        if event.type == "model.token":
            return self._whole() if self.pieces else None
        match event.payload:
            case ModelThinking(text):
                self.pieces.append(text)
            case ModelReset():
                self.pieces.clear()
            case ModelMessage(message=message):
                thought = _thought(message, self.is_sent)
                self.pieces.clear()
                self.is_sent = False
                return thought
            case _:
                pass
        return None

    def _whole(self) -> str | None:
        thought = "".join(self.pieces)
        self.pieces.clear()
        if self.is_sent or not thought.strip():
            return None
        self.is_sent = True
        return thought


def frames(repeats_its_thinking: bool, after: int = 0) -> Callable[[Event], bytes]:
    """Return an encoder for the events after `after`. For an agent that repeats its thinking, each follower needs a
    separate encoder, which gets every event of the log."""
    thoughts = Thoughts() if repeats_its_thinking else None

    def frame(event: Event) -> bytes:
        shown = image(event, thoughts)
        if shown is None or event.seq <= after:
            return b""
        return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, shown[0].encode(), _encode(shown[1]))

    return frame


def image(event: Event, thoughts: Thoughts | None) -> Shown | None:
    """Return the name and data of this face's event, or None if the face does not send it."""
    match event.type:
        case "run.queued":
            status = InteractionStatus.RUNNING.value
            return "interaction_started", {"interaction_id": interaction_id(event.run_id), "status": status}
        case "approval.requested" | "approval.decided":
            return _approval(event)
        case "run.error" | "run.canceled" | "run.finished":
            return _end(event)
        case (
            "model.thinking"
            | "model.token"
            | "model.reset"
            | "model.message"
            | "tool.started"
            | "tool.finished"
            | "run.output"
        ):
            found = agent_event(event, thoughts)
            return None if found is None else (_NAMES[type(found)], _fields(found))
        case (
            "run.resumed"
            | "message.received"
            | "message.taken"
            | "step.started"
            | "step.finished"
            | "tool.requested"
            | "wait.requested"
            | "wait.answered"
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


def _fields(event: AgentEvent) -> dict[str, Any]:
    return vars(event) | {"type": event.type.value}


def agent_event(event: Event, thoughts: Thoughts | None) -> AgentEvent | None:
    """Return the event that an interaction stores, or None. `thoughts`: for an agent that repeats its thinking."""
    if event.type in ("model.thinking", "model.token", "model.reset", "model.message"):
        thought = _piece(event) if thoughts is None else thoughts.take(event)
        return ThinkingEvent(content=thought) if thought else None
    match event.payload:
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


def _piece(event: Event) -> str | None:
    """Return the thinking in this event, for an agent that sends it in pieces."""
    if event.type == "model.token":
        return None
    match event.payload:
        case ModelThinking(text):
            return text
        case ModelMessage(message=message):
            return _thought(message)
        case _:
            return None


def _thought(message: dict[str, Any], is_thinking_sent: bool = False) -> str:
    """Return a message's thinking and its text beside tool calls. The answer is not thinking."""
    said = message.get("content") if message.get("tool_calls") else None
    parts = (None if is_thinking_sent else message.get("reasoning_content"), said)
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
        case RunFinished(status, stop_reason):
            complete = {"interaction_id": name, "status": STATUS[Status(status)].value}
            early = STOPPED_EARLY.get(stop_reason) if status == "done" else None
            return "interaction_complete", complete | (
                {} if early is None else {"stop_reason": stop_reason, "message": early}
            )
        case _:
            raise AssertionError(event.type)


def _text(value: Any) -> str:
    """Encode tool data, which is always text in this face."""
    return value if isinstance(value, str) else msgspec.json.format(_encode(value), indent=0).decode()
