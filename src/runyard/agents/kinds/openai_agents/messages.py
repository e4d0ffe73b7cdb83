"""Items and results of OpenAI Agents SDK as JSON for the log, and back. Imported only when such an agent runs."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from agents import ModelResponse
from agents import Usage as SdkUsage
from openai.types.responses import Response, ResponseOutputItem
from pydantic import BaseModel, TypeAdapter

from runyard.agents.durable.tool_call import Result
from runyard.agents.execution import Execution
from runyard.agents.json_values import plain
from runyard.agents.kinds.frameworks.messages import RequestedTool, Said
from runyard.domain.content.parts import DataPart, File, Image, decoded
from runyard.domain.events import Usage
from runyard.domain.state.conversation import UNKNOWN
from runyard.errors import ToolFailed

_OUTPUT: TypeAdapter[list[Any]] = TypeAdapter(list[ResponseOutputItem])
_encode = msgspec.json.Encoder().encode


# --- responses of the model


def response_as_json(output: Iterable[Any], response_id: str | None, usage: Usage, taken: Iterable[str]) -> Any:
    """Return a response for the log, with call ids that are unique in the run."""
    seen, items = set(taken), []
    for item in output:
        made = item.model_dump(mode="json", exclude_unset=True)
        call_id = made.get("call_id")
        if call_id is not None:
            number = len(seen)
            while made["call_id"] in seen:
                number += 1
                made["call_id"] = f"{call_id}_{number}"
            seen.add(made["call_id"])
        items.append(made)
    return {"output": items, "response_id": response_id, "usage": [usage.input_tokens, usage.output_tokens]}


def response_from(stored: Mapping[str, Any]) -> ModelResponse:
    read, written = stored["usage"]
    usage = SdkUsage(requests=1, input_tokens=read, output_tokens=written, total_tokens=read + written)
    return ModelResponse(_OUTPUT.validate_python(stored["output"]), usage, stored["response_id"])


def said_by(stored: Mapping[str, Any], handoffs: frozenset[str]) -> Said:
    """Return what followers see. A handoff is a step, not a call."""
    texts, calls = [], []
    for item in stored["output"]:
        if item["type"] == "message":
            texts += [part.get("text") or part.get("refusal") or "" for part in item["content"]]
        elif item["type"] == "function_call" and item["name"] not in handoffs:
            calls.append(RequestedTool(item["call_id"], item["name"], arguments_of(item["arguments"])))
    return Said("".join(texts), calls)


def usage_of(response: Response) -> Usage:
    usage = response.usage
    return Usage() if usage is None else Usage(usage.input_tokens, usage.output_tokens)


def call_ids_in(items: object) -> set[str]:
    """Return the ids of the calls in the input of a model."""
    if not isinstance(items, list):
        return set()
    return {item["call_id"] for item in items if isinstance(item, dict) and item.get("call_id")}


def results_in(items: object) -> dict[str, str]:
    """Return the text that the model gets for each call."""
    found = {}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("type") == "function_call_output":
            output = item["output"]
            found[item["call_id"]] = output if isinstance(output, str) else _encode(output).decode()
    return found


def arguments_of(text: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        given = None
    return given if isinstance(given, dict) else {"arguments": text}


# --- results of tools


def result_as_json(value: Any) -> Any:
    """Return the result of a tool for the log. A value that is not JSON becomes text, as the SDK gives it to the
    model."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list | tuple):
        return [result_as_json(each) for each in value]
    try:
        return plain(value)
    except (TypeError, ValueError):
        return str(value)


def result_from(result: Result) -> Any:
    """Return the result of a call as the tool returned it, or raise ToolFailed if it raised."""
    if result.error is None:
        return result.output
    if result.error == "unknown_outcome":
        return UNKNOWN
    raise ToolFailed(f"A tool failed with {result.error}.", error=result.error) from result.cause


# --- the conversation


async def input_of(execution: Execution, said: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return the input of a run: earlier messages, then its own message with its files, or the inputs of its task."""
    items = [item for message in said for item in _items(message)]
    message, task = execution.message, execution.state.task
    if message is None:
        text = "" if task is None else _encode(task.inputs).decode()
        return [*items, {"role": "user", "content": text}]
    if message.parts is None:
        return [*items, {"role": "user", "content": message.text}]
    content = [await _block(part, execution) for part in decoded(message.parts)]
    return [*items, {"role": "user", "content": content}]


def _items(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a message of OpenAI's chat API as items of the responses API. Files are left out."""
    text = _text_of(message.get("content"))
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": text}]
    calls = [
        {"type": "function_call", "call_id": call["id"], **call["function"]} for call in message.get("tool_calls") or ()
    ]
    return [*([{"role": message["role"], "content": text}] if text else []), *calls]


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in content or () if block.get("type") == "text")


async def _block(part: Any, execution: Execution) -> dict[str, Any]:
    match part:
        case File():
            data = base64.b64encode(await execution.read_file(part.id)).decode()
            address = f"data:{part.type};base64,{data}"
            if isinstance(part, Image):
                return {"type": "input_image", "image_url": address, "detail": "auto"}
            return {"type": "input_file", "filename": part.name, "file_data": address}
        case DataPart(data):
            return {"type": "input_text", "text": _encode(data).decode()}
        case _:
            return {"type": "input_text", "text": part.text}
