"""The messages, interrupts and events of LangGraph's API that this face sends. Pure."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from runyard.domain.events import RunError, Usage
from runyard.domain.wait import ClientWait

Shown = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_RUN = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([1-9][0-9]{0,5}))?", re.ASCII)
_POSITION = re.compile(r"([0-9]{1,16})-([0-9]{1,9})", re.ASCII)
INTERRUPT = "__interrupt__"
CANCELED = {"error": "UserInterrupt", "message": "The run was canceled."}


class Frame(NamedTuple):
    """One event for the client. `mode`: the stream mode that shows it; empty: every stream shows it. A frame of the
    mode `interrupt` is for streams that have neither values nor updates."""

    mode: str
    event: str
    data: Any


# --- ids


def shown_run_id(run_id: str, part: int) -> str:
    """Return the id of a part: the client takes it for a run."""
    return run_id if part == 1 else f"{run_id}_{part}"


def parsed_run_id(given: str) -> tuple[str, int] | None:
    """Return the run and the part that an id names, or None."""
    found = _RUN.fullmatch(given)
    return None if found is None else (found[1], int(found[2] or 1))


def parsed_position(given: str) -> tuple[int, int] | None:
    """Return the seq and the number of a frame from the id of an event, or None. `-1` is the beginning."""
    if given == "-1":
        return (0, 0)
    found = _POSITION.fullmatch(given)
    return None if found is None else (int(found[1]), int(found[2]))


def encoded(seq: int, number: int, frame: Frame) -> bytes:
    """Return a frame as bytes. Its id is the seq of its event and its number among the frames of that event."""
    return b"id: %d-%d\nevent: %b\ndata: %b\n\n" % (seq, number, frame.event.encode(), _encode(frame.data))


# --- messages


def text(value: Any) -> str:
    """Encode tool data, which is text in a message."""
    return value if isinstance(value, str) else _encode(value).decode()


def builtins(value: Any) -> Any:
    """Return structs as JSON values."""
    return msgspec.to_builtins(value)


def human(message_id: str, content: Any) -> Shown:
    return {"type": "human", "id": message_id, "content": content, "additional_kwargs": {}, "response_metadata": {}}


def answer(message_id: str, content: str, reasoning: str) -> Shown:
    """Return a message of the agent."""
    more = {"reasoning_content": reasoning} if reasoning else {}
    return {
        "type": "ai",
        "id": message_id,
        "content": content,
        "additional_kwargs": more,
        "response_metadata": {},
        "tool_calls": [],
        "invalid_tool_calls": [],
    }


def chunk(message_id: str, content: str = "", reasoning: str = "", calls: Sequence[Shown] = (), at: int = 0) -> Shown:
    """Return a piece of a message of the agent. `at`: how many calls the message had before."""
    return {
        "type": "AIMessageChunk",
        "id": message_id,
        "content": content,
        "additional_kwargs": {"reasoning_content": reasoning} if reasoning else {},
        "response_metadata": {},
        "tool_calls": list(calls),
        "invalid_tool_calls": [],
        "tool_call_chunks": [_call_chunk(call, at + n) for n, call in enumerate(calls)] if calls else [],
    }


def _call_chunk(call: Shown, index: int) -> Shown:
    named = {"type": "tool_call_chunk", "id": call["id"], "name": call["name"]}
    return {**named, "args": text(call["args"]), "index": index}


def tool_call(call_id: str, name: str, given: Any) -> Shown:
    args = given if isinstance(given, dict) else {"input": given}
    return {"type": "tool_call", "id": call_id, "name": name, "args": args}


def tool_result(message_id: str, call_id: str, name: str, output: Any, error: str | None) -> Shown:
    content = error if output is None and error is not None else output
    return {
        "type": "tool",
        "id": message_id,
        "name": name,
        "tool_call_id": call_id,
        "content": text(content),
        "status": "success" if error is None else "error",
        "additional_kwargs": {},
        "response_metadata": {},
    }


def usage_metadata(usage: Usage) -> Shown:
    spent = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {**spent, "total_tokens": usage.input_tokens + usage.output_tokens}


# --- interrupts


def interrupt(wait_id: str, wait: ClientWait) -> Shown:
    """Return a wait for the client as an interrupt. Approvals have the form of LangChain's middleware for them."""
    if wait.is_approval:
        return {"id": wait_id, "value": _review(wait)}
    if wait.kind == "client_tool":
        call = {"id": wait_id, "name": wait.name, "args": wait.input}
        found: Shown = {"id": wait_id, "value": {"type": "tool", "toolCall": call}}
    else:
        found = {"id": wait_id, "value": wait.prompt if wait.input is None else wait.input}
    return found if wait.schema is None else {**found, "response_schema": wait.schema}


def _review(wait: ClientWait) -> Shown:
    decisions = ["approve", "edit", "reject"] if wait.kind == "tool" else ["approve", "reject"]
    args = wait.input if isinstance(wait.input, dict) else {"input": wait.input}
    return {
        "action_requests": [{"name": wait.name, "args": args, "description": wait.approval_question}],
        "review_configs": [{"action_name": wait.name, "allowed_decisions": decisions}],
    }


# --- the end


def failure(error: RunError | None) -> Shown:
    failed = error or RunError("error", "The run failed.")
    return {"error": failed.code, "message": failed.message}
