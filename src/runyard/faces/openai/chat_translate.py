"""Translates the log of a run to chat completions. Pure: it reads the events that `translate.py` makes of the log.

A completion cannot withdraw text. After `model.reset` the text that is written again is sent only after the part that
was sent before. If it differs, the stream ends with an error that names the response.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from runyard.domain.events import PROGRESS, Event
from runyard.faces.openai import objects
from runyard.faces.openai.translate import Shown, Translation
from runyard.web.streaming.part_encoder import TEXT, PartEncoder, TextEvent

DONE = b"data: [DONE]\n\n"
DIFFERS = "The server resumed this answer after a failure, and its text changed. Get it with GET /v1/responses/{}."
FINISH = {"max_output_tokens": "length"}
_encode = msgspec.json.Encoder().encode


def completion(response: dict[str, Any], response_id: str) -> dict[str, Any]:
    """Return the completion of a finished response."""
    text = [part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"]]
    thoughts = [part["text"] for item in response["output"] if item["type"] == "reasoning" for part in item["summary"]]
    calls = [_tool_call(item) for item in response["output"] if item["type"] == "function_call"]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(text) or None, "refusal": None}
    if thoughts:
        message["reasoning_content"] = "".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(response)}
    return {**_head(response, response_id, "chat.completion"), "choices": [choice], "usage": usage(response)}


def _head(response: dict[str, Any], response_id: str, kind: str) -> dict[str, Any]:
    shown = "chatcmpl-" + response_id.removeprefix("resp_")
    return {"id": shown, "object": kind, "created": response["created_at"], "model": response["model"]}


def _tool_call(item: dict[str, Any]) -> dict[str, Any]:
    function = {"name": item["name"], "arguments": item["arguments"]}
    return {"id": item["call_id"], "type": "function", "function": function}


def finish_reason(response: dict[str, Any]) -> str:
    if any(item["type"] == "function_call" for item in response["output"]):
        return "tool_calls"
    return FINISH.get(str((response["incomplete_details"] or {}).get("reason")), "stop")


def usage(response: dict[str, Any]) -> dict[str, Any] | None:
    spent = response["usage"]
    if spent is None:
        return None
    return {
        "prompt_tokens": spent["input_tokens"],
        "completion_tokens": spent["output_tokens"],
        "total_tokens": spent["total_tokens"],
    }


def failure(response: dict[str, Any]) -> dict[str, Any] | None:
    """Return the error of a response that has no answer, or None."""
    if response["status"] == "failed":
        error = response["error"]
        return {"message": error["message"], "type": "server_error", "param": None, "code": error["code"]}
    if response["status"] == "cancelled":
        return {"message": "The run was canceled.", "type": "server_error", "param": None, "code": "canceled"}
    return None


class ChunkTranslation(PartEncoder):
    """Makes the chunks of one part of a run. `is_over`: the last one was made."""

    def __init__(self, run_id: str, part: int, with_usage: bool = False) -> None:
        self._translation = Translation(run_id)
        self._part = part
        self._id = objects.response_id(run_id, part)
        self._with_usage = with_usage
        self._pieces: list[str] = []  # the text as the log has it
        self._kept_pieces = 0  # pieces that a reset does not withdraw
        self._ahead = ""  # text that was sent and is not in the log any more
        self._calls = 0

    def take(self, event: Event) -> bytes:
        """Return the chunks that this event adds, as bytes."""
        shown = self._translation.take(event)
        if self._translation.state.part != self._part or self.is_over:
            return b""
        self._keep_or_withdraw(event)
        said = b"".join([_data(chunk) for each in shown for chunk in self._chunks(each)])
        return said + DONE if self._has_ended else said

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        state = self._translation.state
        if kind != "model.token" or not state.is_writing("message") or self._ahead or self._is_replaced:
            return None
        state.write_on(pieces)
        if state.part != self._part:
            return b""
        self._pieces += pieces
        return self.frames_of("answer", lambda: _data(self._chunk({"content": TEXT}))).of(pieces)

    @property
    def _has_ended(self) -> bool:
        return self.is_over

    def _chunks(self, shown: Shown) -> list[dict[str, Any]]:
        match shown["type"]:
            case _ if self.is_over:
                return []
            case "response.created":
                return [self._chunk({"role": "assistant", "content": ""})]
            case "response.output_text.delta":
                return self._text(shown["delta"])
            case "response.reasoning_summary_text.delta":
                return [self._chunk({"reasoning_content": shown["delta"]})]
            case "response.output_item.done":
                return self._item(shown["item"])
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(shown["response"])
            case _:
                return []

    def _text(self, piece: str) -> list[dict[str, Any]]:
        if self._is_replaced:
            return []
        self._pieces.append(piece)
        if self._ahead.startswith(piece):
            self._ahead = self._ahead[len(piece) :]
            return []
        if not piece.startswith(self._ahead):
            return self._differs()
        more, self._ahead = piece[len(self._ahead) :], ""
        return [self._chunk({"content": more})]

    @property
    def _is_replaced(self) -> bool:
        """Whether the answer is another text than the one that was streamed."""
        return self._translation.state.is_replaced and bool(self._pieces)

    def _differs(self) -> list[dict[str, Any]]:
        self.is_over = True
        message = DIFFERS.format(self._id)
        return [{"error": {"message": message, "type": "server_error", "param": None, "code": "resumed"}}]

    def _keep_or_withdraw(self, event: Event) -> None:
        if event.type == "model.reset":
            self._ahead = "".join(self._pieces[self._kept_pieces :]) + self._ahead
            del self._pieces[self._kept_pieces :]
        elif event.type in PROGRESS:
            self._kept_pieces = len(self._pieces)

    def _item(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        if item["type"] != "function_call":
            return []
        call = {"index": self._calls, **_tool_call(item)}
        self._calls += 1
        return [self._chunk({"tool_calls": [call]})]

    def _end(self, response: dict[str, Any]) -> list[dict[str, Any]]:
        self.is_over = True
        if (error := failure(response)) is not None:
            return [{"error": error}]
        if self._ahead and not self._is_replaced:
            return self._differs()
        chunks = [self._chunk({}, finish_reason(response))]
        if self._with_usage:
            head = _head(response, self._id, "chat.completion.chunk")
            chunks.append({**head, "choices": [], "usage": usage(response)})
        return chunks

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        state = self._translation.state
        response = {"created_at": state.created_at, "model": state.base.get("model", "")}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**_head(response, self._id, "chat.completion.chunk"), "choices": [choice]}


def _data(chunk: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % _encode(chunk)
