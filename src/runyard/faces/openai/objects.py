"""The objects of the Responses API: responses, items and the fields of their events. Pure."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from runyard.domain.events import ClientTool, RunError, Usage, WaitAnswered
from runyard.domain.task import RunOptions

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_RESPONSE = re.compile(rf"(?:resp_|chatcmpl-)({_ID})(?:_([1-9][0-9]{{0,5}}))?")
_CONVERSATION = re.compile(rf"conv_({_ID})")

PART_ADDED = {"message": "response.content_part.added", "reasoning": "response.reasoning_summary_part.added"}
PART_DONE = {"message": "response.content_part.done", "reasoning": "response.reasoning_summary_part.done"}
DELTA = {"message": "response.output_text.delta", "reasoning": "response.reasoning_summary_text.delta"}
DONE = {"message": "response.output_text.done", "reasoning": "response.reasoning_summary_text.done"}
SHOWN_CODES = {"rate_limited": "rate_limit_exceeded"}  # every other code of a run is a `server_error`


def response_id(run_id: str, part: int, prefix: str = "resp_") -> str:
    return f"{prefix}{run_id}" if part == 1 else f"{prefix}{run_id}_{part}"


def parsed_id(given: str) -> tuple[str, int] | None:
    """Return the run and the part in the id of a response, or None if the id is invalid."""
    found = _RESPONSE.fullmatch(given)
    return None if found is None else (found[1], int(found[2] or 1))


def conversation_id(thread_id: str) -> str:
    return f"conv_{thread_id}"


def thread_in(given: str) -> str | None:
    """Return the thread id in the id of a conversation, or None if the id is invalid."""
    found = _CONVERSATION.fullmatch(given)
    return None if found is None else found[1]


# --- responses


def base(agent: str, tools: Sequence[ClientTool], options: RunOptions | None) -> dict[str, Any]:
    """Return the fields that stay the same during a run."""
    echo = {} if options is None else options.echo
    return {
        "object": "response",
        "model": agent,
        "error": None,
        "incomplete_details": None,
        "instructions": None if options is None else options.instructions,
        "max_output_tokens": None if options is None else options.max_output_tokens,
        "metadata": echo.get("metadata") or {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in tools
        ],
        # what the protocol uses if a request says nothing: the agent has its own settings
        "temperature": 1.0,
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "top_logprobs": 0,
        "max_tool_calls": None,
        "service_tier": "default",
        "safety_identifier": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "text": {"format": {"type": "text"}},
        "truncation": "disabled",
        "store": True,
        "completed_at": None,
        "usage": None,
        "user": None,
    }


def usage(spent: Usage) -> dict[str, Any]:
    return {
        "input_tokens": spent.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": spent.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent.input_tokens + spent.output_tokens,
    }


def difference(total: Usage, before: Usage) -> Usage:
    return Usage(max(0, total.input_tokens - before.input_tokens), max(0, total.output_tokens - before.output_tokens))


def ending(status: str, reason: str, error: RunError | None) -> tuple[str, str, dict[str, Any]]:
    """Return the event, the status and the other fields with which the last response of a run ends.

    The client library has no event for `cancelled`; an incomplete response with that status is what it can read."""
    if status == "error":
        return "response.failed", "failed", {"error": error_of(error)}
    if status == "canceled":
        return "response.incomplete", "cancelled", {}
    if reason in ("end_turn", "no_tool_call"):
        return "response.completed", "completed", {}
    why = "max_output_tokens" if reason == "max_tokens_exceeded" else reason
    return "response.incomplete", "incomplete", {"incomplete_details": {"reason": why}}


def error_of(error: RunError | None) -> dict[str, Any]:
    if error is None:
        return {"code": "server_error", "message": "The run failed."}
    return {"code": SHOWN_CODES.get(error.code, "server_error"), "message": f"{error.message} ({error.code})"}


# --- items


def text_item(kind: str, event_id: str, text: str, status: str) -> dict[str, Any]:
    """Return a message or reasoning item. An empty text is not there yet."""
    if kind == "reasoning":
        summary = [{"type": "summary_text", "text": text}] if text else []
        return {"id": f"rs_{event_id}", "type": "reasoning", "summary": summary, "status": status}
    content = [_part("message", text)] if text else []
    return {"id": f"msg_{event_id}", "type": "message", "role": "assistant", "content": content, "status": status}


def _part(kind: str, text: str) -> dict[str, Any]:
    if kind == "reasoning":
        return {"type": "summary_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _place(item_id: str, index: int, kind: str) -> dict[str, Any]:
    return {"item_id": item_id, "output_index": index, ("content" if kind == "message" else "summary") + "_index": 0}


def part_of(item_id: str, index: int, kind: str, text: str) -> dict[str, Any]:
    return {**_place(item_id, index, kind), "part": _part(kind, text)}


def delta_of(item_id: str, index: int, kind: str, piece: str) -> dict[str, Any]:
    return {**_place(item_id, index, kind), "delta": piece, **({"logprobs": []} if kind == "message" else {})}


def done_of(item_id: str, index: int, kind: str, text: str) -> dict[str, Any]:
    return {**_place(item_id, index, kind), "text": text, **({"logprobs": []} if kind == "message" else {})}


def call_item(event_id: str, label: str, tool: str, given: Any) -> dict[str, Any]:
    """Return the item of a tool that the server calls."""
    return {
        "id": f"mcp_{event_id}",
        "type": "mcp_call",
        "server_label": label,
        "name": tool,
        "arguments": text(given),
        "output": None,
        "error": None,
        "approval_request_id": None,
        "status": "in_progress",
    }


def call_result(item: dict[str, Any], output: Any, error: str | None) -> dict[str, Any]:
    if error is None:
        return {**item, "output": text(output), "status": "completed"}
    said = error if output is None else text(output)
    return {**item, "error": {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": said}]}} | {
        "status": "failed"
    }


def function_call(wait_id: str, name: str) -> dict[str, Any]:
    """Return the item of a tool that the client calls, before its arguments."""
    item = {"id": f"fc_{wait_id}", "type": "function_call", "call_id": wait_id, "name": name}
    return {**item, "arguments": "", "status": "in_progress"}


def answer_text(answer: WaitAnswered) -> str:
    """Return the client's result of a call, as it was sent."""
    return text(answer.value) if answer.outcome == "answered" else answer.message or answer.outcome


def text(value: Any) -> str:
    """Encode tool data, which is always text in this face."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
