"""Messages and results of pydantic-ai as JSON for the log, and back. Imported only when such an agent runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from pydantic import TypeAdapter
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from runyard.agents.durable.tool_call import PREFIX, Result
from runyard.agents.execution import Execution
from runyard.agents.kinds.frameworks.messages import RequestedTool, Said
from runyard.domain.content.parts import DataPart, File, decoded
from runyard.domain.events import Usage
from runyard.domain.state import conversation
from runyard.errors import ToolError
from runyard.errors import ToolFailed as CallFailed

_RETURN: TypeAdapter[ToolReturn[Any]] = TypeAdapter(ToolReturn[Any])
_encode = msgspec.json.Encoder().encode


# --- responses of the model


def response_as_json(response: ModelResponse) -> Any:
    return ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]


def response_from(stored: Any) -> ModelResponse:
    message = ModelMessagesTypeAdapter.validate_json(_encode([stored]))[0]
    assert isinstance(message, ModelResponse)
    return message


def with_own_ids(response: ModelResponse, taken: Iterable[str]) -> ModelResponse:
    """Return the response with call ids that are unique in the run, and with arguments as objects if they are JSON."""
    seen, parts = set(taken), []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            call_id, number = part.tool_call_id, len(seen)
            while call_id in seen:
                number += 1
                call_id = f"{part.tool_call_id}_{number}"
            seen.add(call_id)
            arguments: Any = _arguments(part)
            part = replace(part, tool_call_id=call_id, args=arguments)
        parts.append(part)
    return replace(response, parts=parts)


def said_by(response: ModelResponse, output_tools: frozenset[str]) -> Said:
    """Return what followers see. A call of an output tool is the answer, not a call."""
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    answers = [_encode(_object(part)).decode() for part in calls if part.tool_name in output_tools]
    return Said(
        "".join(texts) or "".join(answers),
        [
            RequestedTool(part.tool_call_id, part.tool_name, _object(part))
            for part in calls
            if part.tool_name not in output_tools
        ],
    )


def usage_of(response: ModelResponse) -> Usage:
    """Return the tokens, and the cost if the price of the model is known."""
    try:
        usd = float(response.cost().total_price)
    except (AssertionError, LookupError):
        usd = 0.0
    return Usage(response.usage.input_tokens, response.usage.output_tokens, usd)


def call_ids_in(messages: Sequence[ModelMessage]) -> set[str]:
    return {part.tool_call_id for said in messages for part in said.parts if isinstance(part, ToolCallPart)}


def results_in(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """Return the text that the model gets for each call of its last message."""
    last = messages[-1] if messages else None
    if not isinstance(last, ModelRequest):
        return {}
    found = {}
    for part in last.parts:
        if isinstance(part, RetryPromptPart):
            found[part.tool_call_id] = part.model_response()
        elif isinstance(part, ToolReturnPart):
            found[part.tool_call_id] = part.model_response_str()
    return found


def _arguments(part: ToolCallPart) -> str | dict[str, Any] | None:
    if not isinstance(part.args, str):
        return part.args
    try:
        found = msgspec.json.decode(part.args or "{}")
    except msgspec.DecodeError:
        return part.args
    return found if isinstance(found, dict) else part.args


def _object(part: ToolCallPart) -> dict[str, Any]:
    found = _arguments(part)
    return {"arguments": found} if isinstance(found, str) else found or {}


# --- results of tools


def result_as_json(value: Any) -> Any:
    """Return the result of a tool for the log."""
    if isinstance(value, ToolReturn):
        return _RETURN.dump_python(value, mode="json")
    return _part(value)["content"]


def raise_error_of(result: Result) -> None:
    """Raise what the tool raised, if the call ended with an error."""
    match result.error:
        case None:
            return
        case ToolError.code:
            raise ModelRetry(_text(result.output))
        case CallFailed.code:
            raise ToolFailed(_text(result.output))
        case "unknown_outcome":
            raise ToolFailed(conversation.UNKNOWN)
        case error:
            raise CallFailed(f"A tool failed with {error}.", error=error) from result.cause


def value_of(stored: Any) -> Any:
    """Return a recorded result. Files in it become files again."""
    if isinstance(stored, dict) and stored.get("kind") == "tool-return":
        return _RETURN.validate_json(_encode(stored))
    part = {**_part(None), "content": stored}
    message = ModelMessagesTypeAdapter.validate_json(_encode([{"kind": "request", "parts": [part]}]))[0]
    read = message.parts[0]
    assert isinstance(read, ToolReturnPart)
    return read.content


def _part(value: Any) -> dict[str, Any]:
    request = ModelRequest([ToolReturnPart(tool_name="tool", content=value, tool_call_id="call")])
    part: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([request], mode="json")[0]["parts"][0]
    return part


def _text(output: Any) -> str:
    return str(output or "").removeprefix(PREFIX)


# --- the conversation


async def prompt_of(execution: Execution) -> str | list[UserContent]:
    """Return the prompt of a run: the text and the files of its message, or the inputs of its task as JSON."""
    message, task = execution.message, execution.state.task
    if message is None:
        return "" if task is None else _encode(task.inputs).decode()
    if message.parts is None:
        return message.text
    prompt: list[UserContent] = []
    for part in decoded(message.parts):
        match part:
            case File():
                prompt.append(BinaryContent(await execution.read_file(part.id), media_type=part.type))
            case DataPart(data):
                prompt.append(_encode(data).decode())
            case _:
                prompt.append(part.text)
    return prompt


def history_from(said: Iterable[Mapping[str, Any]]) -> list[ModelMessage]:
    """Return messages of OpenAI's chat API, as the log has them, as messages of pydantic-ai. Files are left out."""
    history: list[ModelMessage] = []
    names: dict[str, str] = {}
    for message in said:
        match message["role"]:
            case "assistant":
                calls = [_call_part(call) for call in message.get("tool_calls") or ()]
                names |= {call.tool_call_id: call.tool_name for call in calls}
                text = _text_of(message.get("content"))
                history.append(ModelResponse([*([TextPart(text)] if text else []), *calls]))
            case "tool":
                call_id = message["tool_call_id"]
                part = ToolReturnPart(names.get(call_id, "tool"), _text_of(message["content"]), call_id)
                history.append(ModelRequest([part]))
            case "user":
                history.append(ModelRequest([UserPromptPart(_text_of(message["content"]))]))
            case _:
                history.append(ModelRequest([SystemPromptPart(_text_of(message["content"]))]))
    return history


def _call_part(call: Mapping[str, Any]) -> ToolCallPart:
    return ToolCallPart(call["function"]["name"], call["function"]["arguments"], call["id"])


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in content or () if block.get("type") == "text")
