"""Redact the payload of an event: all content, but no names and ids.

Pieces of text (`model.token`, `model.thinking`, `tool.output`) are not redacted here but as a stream, because sensitive
text may span several of them.
"""

from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import UNSET
from msgspec.structs import replace

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    MessageReceived,
    ModelMessage,
    Payload,
    RunError,
    RunOutput,
    StepFinished,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

P = TypeVar("P", bound=Payload)

# Fields of a provider's message that are not content, or that the provider must get back unchanged.
OPAQUE = frozenset({"role", "id", "type", "name", "index", "signature"})


def redacted(payload: P, redactor: "Redactor") -> P:
    """Return the payload with its content redacted."""
    return cast(P, _redacted(payload, redactor))


def _redacted(payload: Payload, redactor: "Redactor") -> Payload:
    value = redactor.value
    match payload:
        case StepFinished():
            return replace(payload, result=value(payload.result), traceback=value(payload.traceback))
        case ModelMessage():
            return replace(payload, message=message(payload.message, redactor))
        case ToolRequested() | ToolStarted() | ApprovalRequested():
            return replace(payload, input=value(payload.input))
        case ToolFinished():
            return replace(payload, output=value(payload.output), traceback=value(payload.traceback))
        case WaitRequested():
            default = UNSET if payload.default is UNSET else value(payload.default)
            fields = {"prompt": value(payload.prompt), "input": value(payload.input), "schema": value(payload.schema)}
            return replace(payload, default=default, **fields)
        case WaitAnswered():
            return replace(payload, value=value(payload.value), message=value(payload.message))
        case ApprovalDecided():
            return replace(payload, input=value(payload.input), reason=value(payload.reason))
        case RunOutput():
            made = RunOutput(value(payload.text), value(payload.sources), value(payload.outputs))
            return replace(made, files=payload.files)  # their names were redacted when they were stored
        case MessageReceived():
            return replace(payload, text=value(payload.text))
        case RunError():
            return replace(payload, message=value(payload.message), traceback=value(payload.traceback))
        case _:
            return payload  # names, ids and counts; pieces of text


def message(said: dict[str, Any], redactor: "Redactor") -> dict[str, Any]:
    """Redact a model's message. Arguments of calls stay JSON. Signed reasoning that would change is removed, because
    its signature would be invalid."""
    made = {key: item if key in OPAQUE else redactor.value(item) for key, item in said.items()}
    if "tool_calls" in said:
        made["tool_calls"] = [_call(call, redactor) for call in said["tool_calls"] or ()]
    if "thinking_blocks" in said:
        made["thinking_blocks"] = said["thinking_blocks"]
        if any(redactor.value(block.get("thinking")) != block.get("thinking") for block in said["thinking_blocks"]):
            del made["thinking_blocks"]
    return made


def _call(call: dict[str, Any], redactor: "Redactor") -> dict[str, Any]:
    function = call["function"]
    return {**call, "function": {**function, "arguments": redactor.json(function["arguments"] or "")}}
