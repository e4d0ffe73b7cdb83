"""The chunks of a UI message stream, and the names of streams. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from runyard.domain.content.parts import File
from runyard.domain.events import RunError, Usage, WaitAnswered

Chunk = dict[str, Any]
DONE = b"data: [DONE]\n\n"
_encode = msgspec.json.Encoder().encode
_STREAM = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([1-9][0-9]{0,5}))?")
QUESTION, CONFIRMATION = "ask", "confirm"  # names of the tools that stand for questions without a tool
REASONS = {"end_turn": "stop", "no_tool_call": "stop", "max_steps": "length", "max_tokens_exceeded": "length"}


def stream_id(run_id: str, part: int) -> str:
    """Return the name of a part of a run, which clients get as `x-workflow-run-id`."""
    return run_id if part == 1 else f"{run_id}_{part}"


def parsed_stream_id(given: str) -> tuple[str, int] | None:
    """Return the run and the part in the name of a stream, or None if the name is invalid."""
    found = _STREAM.fullmatch(given)
    return None if found is None else (found[1], int(found[2] or 1))


def start(run_id: str, agent: str | None) -> Chunk:
    """Return the first chunk of a part. The message that the client builds has the id of the run."""
    about = {"runId": run_id} if agent is None else {"runId": run_id, "agent": agent}
    return {"type": "start", "messageId": run_id, "messageMetadata": about}


def finish(reason: str, **about: Any) -> Chunk:
    chunk: Chunk = {"type": "finish", "finishReason": reason}
    return {**chunk, "messageMetadata": about} if about else chunk


def ending(status: str, reason: str, usage: Usage | None, error: RunError | None) -> list[Chunk]:
    """Return the chunks that end the message of a run. Older readers do not know the reason `interrupted`."""
    about: dict[str, Any] = {"status": status, "stopReason": reason}
    if usage is not None:
        about["usage"] = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    if status == "error":
        said = "The run failed." if error is None else f"{error.message} ({error.code})"
        return [{"type": "error", "errorText": said}, finish("error", **about)]
    if status == "canceled":
        return [{"type": "abort", "reason": "The run was canceled."}, finish("other", **about)]
    return [finish(REASONS.get(reason, "other"), **about)]


def delta(kind: str, text_id: str | None, piece: str) -> Chunk:
    """Return a piece of the open text or reasoning."""
    return {"type": f"{kind}-delta", "id": text_id, "delta": piece}


def tool_input(tool_id: str, name: str, given: Any, is_of_server: bool) -> Chunk:
    """Return a tool call with its input. Tools of the server count as executed by the provider, so that the client
    neither calls them nor waits for its own results."""
    chunk = {"type": "tool-input-available", "toolCallId": tool_id, "toolName": name, "input": given}
    return {**chunk, "providerExecuted": True} if is_of_server else chunk


def tool_output(tool_id: str, output: Any, is_of_server: bool = False) -> Chunk:
    chunk = {"type": "tool-output-available", "toolCallId": tool_id, "output": output}
    return {**chunk, "providerExecuted": True} if is_of_server else chunk


def tool_error(tool_id: str, said: str, is_of_server: bool = False) -> Chunk:
    chunk = {"type": "tool-output-error", "toolCallId": tool_id, "errorText": said}
    return {**chunk, "providerExecuted": True} if is_of_server else chunk


def denied(tool_id: str) -> Chunk:
    return {"type": "tool-output-denied", "toolCallId": tool_id}


def approval_request(approval_id: str, tool_id: str) -> Chunk:
    return {"type": "tool-approval-request", "approvalId": approval_id, "toolCallId": tool_id}


def approval_response(approval_id: str, is_approved: bool, reason: str | None) -> Chunk:
    chunk = {"type": "tool-approval-response", "approvalId": approval_id, "approved": is_approved}
    return chunk if reason is None else {**chunk, "reason": reason}


def answered(tool_id: str, answer: WaitAnswered) -> Chunk:
    """Return the result of a call that the client, or another client, answered."""
    if answer.outcome == "answered":
        return tool_output(tool_id, answer.value)
    return tool_error(tool_id, answer.message or answer.outcome)


def data(name: str, part_id: str, value: Any) -> Chunk:
    """Return a data part. A later one with the same id replaces it."""
    return {"type": f"data-{name}", "id": part_id, "data": value}


def tool_progress(tool_id: str, text: str) -> Chunk:
    """Return output of a running tool. It is for display and is not kept in the message."""
    return {"type": "data-tool-output", "data": {"toolCallId": tool_id, "text": text}, "transient": True}


def sources(given: Sequence[str]) -> list[Chunk]:
    """Return the sources of an answer: web addresses as URLs, other ids as documents."""
    return [_source(name) for name in given]


def _source(name: str) -> Chunk:
    if name.startswith(("https://", "http://")):
        return {"type": "source-url", "sourceId": name, "url": name}
    return {"type": "source-document", "sourceId": name, "mediaType": "text/plain", "title": name}


def files(given: Iterable[File]) -> list[Chunk]:
    """Return the files of an answer. Their address is one of this server, and needs the caller's key."""
    return [{"type": "file", "url": f"/api/files/{file.id}", "mediaType": file.type} for file in given]


def said(output: Any) -> str:
    """Return the output of a failed tool as text."""
    return output if isinstance(output, str) else _encode(output).decode()


def frame(chunk: Chunk) -> bytes:
    """Return a chunk as bytes. It has no `id`: the client counts chunks."""
    return b"data: %b\n\n" % _encode(chunk)
