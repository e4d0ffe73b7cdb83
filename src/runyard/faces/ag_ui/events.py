"""The events of AG-UI that this face sends. Pure.

Some are completed for each request (`follow.Encoder`): those that name the client's run, and those that replace what
the client has.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from runyard.domain.events import RunError, Usage, WaitAnswered
from runyard.domain.times import iso
from runyard.domain.wait import ClientWait

Shown = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_MESSAGE = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,5})\.[0-9]{1,9}")
REASONS = {"question": "input_required", "confirmation": "confirmation"}  # of interrupts; others are tool calls
APPROVAL = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string", "description": "With a rejection: the reason, for the agent."},
        "editedArgs": {"type": "object", "description": "With an approval: call the tool with these arguments."},
    },
    "required": ["approved"],
}
ROLES = {"text": "assistant", "reasoning": "reasoning"}


def message_id(run_id: str, part: int, number: int) -> str:
    return f"{run_id}.{part}.{number}"


def parsed_message_id(given: str) -> tuple[str, int] | None:
    """Return the run and the part that a message of this server is of, or None for other messages."""
    found = _MESSAGE.fullmatch(given)
    return None if found is None else (found[1], int(found[2]))


def opened(kind: str, message: str, role: str) -> list[Shown]:
    if kind == "text":
        return [{"type": "TEXT_MESSAGE_START", "messageId": message, "role": role}]
    return [
        {"type": "REASONING_START", "messageId": message},
        {"type": "REASONING_MESSAGE_START", "messageId": message, "role": "reasoning"},
    ]


def delta(kind: str, message: str, piece: str) -> Shown:
    name = "TEXT_MESSAGE_CONTENT" if kind == "text" else "REASONING_MESSAGE_CONTENT"
    return {"type": name, "messageId": message, "delta": piece}


def closed(kind: str, message: str) -> list[Shown]:
    if kind == "text":
        return [{"type": "TEXT_MESSAGE_END", "messageId": message}]
    return [{"type": f"REASONING_{name}", "messageId": message} for name in ("MESSAGE_END", "END")]


def tool_call(call_id: str, name: str, given: Any, message: str) -> list[Shown]:
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name, "parentMessageId": message},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": said(given)},
        {"type": "TOOL_CALL_END", "toolCallId": call_id},
    ]


def call_message(call_id: str, name: str, given: Any, message: str) -> Shown:
    """Return the message that a client makes of a tool call."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": said(given)}}
    return {"id": message, "role": "assistant", "toolCalls": [call]}


def result_message(call_id: str, output: Any, message: str) -> Shown:
    return {"id": message, "role": "tool", "toolCallId": call_id, "content": said(output)}


def tool_result(message: Shown) -> Shown:
    fields = {"messageId": message["id"], "toolCallId": message["toolCallId"], "content": message["content"]}
    return {"type": "TOOL_CALL_RESULT", **fields, "role": "tool"}


def snapshot(kept: Sequence[Shown], dropped: Sequence[str]) -> Shown:
    """Return the event that withdraws messages. `kept` are the messages of this part."""
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(kept), "dropped": list(dropped)}


def interrupt(wait_id: str, wait: ClientWait) -> Shown:
    """Return a wait for a person as an interrupt."""
    found: Shown = {"id": wait_id, "reason": REASONS.get(wait.kind, "tool_call")}
    found["responseSchema"] = APPROVAL if wait.is_approval else wait.schema
    found["message"] = wait.prompt or wait.approval_question
    found["toolCallId"] = wait.shown
    found["expiresAt"] = iso(wait.expires_at)
    found["metadata"] = {"kind": wait.kind, "input": wait.input}
    return {name: value for name, value in found.items() if value is not None}


def waiting(waits: Mapping[str, ClientWait]) -> Shown:
    """Return the outcome of a part that ends because the run waits for the client."""
    interrupts = [interrupt(key, wait) for key, wait in waits.items() if wait.kind != "client_tool"]
    if interrupts:
        return {"type": "interrupt", "interrupts": interrupts}
    return {"type": "success", "pendingToolCallIds": list(waits)}


def finished(outcome: Shown, **more: Any) -> Shown:
    return {"type": "RUN_FINISHED", "outcome": outcome, **more}


def ending(status: str, reason: str, usage: Usage | None, error: RunError | None, result: Shown) -> Shown:
    """Return the event that ends the last part of a run."""
    spent = {} if usage is None else {"usage": [_usage(usage)]}
    if status == "error":
        failed = error or RunError("error", "The run failed.")
        return {"type": "RUN_ERROR", "message": failed.message, "code": failed.code, **spent}
    if status == "canceled":
        return finished({"type": "cancelled"}, **spent)
    return finished({"type": "success"}, result={**result, "stopReason": reason}, **spent)


def _usage(usage: Usage) -> Shown:
    spent = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    return {**spent, "totalTokens": usage.input_tokens + usage.output_tokens}


def subagent_ended(child: str, answer: WaitAnswered) -> Shown:
    if answer.outcome == "answered":
        found: Shown = {"type": "SUBAGENT_FINISHED", "subagentRunId": child, "outcome": {"type": "success"}}
        return found if answer.value is None else {**found, "result": answer.value}
    message, code = answer.message or answer.outcome, answer.code or answer.outcome
    return {"type": "SUBAGENT_ERROR", "subagentRunId": child, "message": message, "code": code}


def said(value: Any) -> str:
    """Encode tool data, which is text in this protocol."""
    return value if isinstance(value, str) else _encode(value).decode()


def answer_text(answer: WaitAnswered) -> str:
    return said(answer.value) if answer.outcome == "answered" else answer.message or answer.outcome


def frame(shown: Shown) -> bytes:
    """Return an event as bytes: no name and no `id`, lines end with LF alone."""
    return b"data: %b\n\n" % _encode(shown)
