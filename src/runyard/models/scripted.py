"""A scripted model: it answers from data, without a key or a network, and always the same.

Its turns are data, or a function of the conversation. The number of the turn is read from the conversation (how often
the assistant has spoken since the last user message), so a run that resumes after a crash gets the same answers.

A turn is an object; every field is optional:

    {"thinking": "...", "text": "..." or ["a ", "b"], "every_ms": 20, "calls": [{"tool": "look", "input": {...}}],
     "usage": {"input_tokens": 5, "output_tokens": 3, "usd": 0.01}, "finish": "length", "error": "rate_limited"}
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from runyard.domain.events import Usage
from runyard.errors import (
    ContextTooLong,
    Invalid,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
    RateLimited,
)
from runyard.models.model import AnswerPiece, Conversation, Finished, FinishReason, Request, Text, Thinking

ErrorCode = Literal["model_unavailable", "model_timeout", "rate_limited", "model_refused", "context_too_long"]
ERRORS: dict[ErrorCode, type[ModelError]] = {
    "model_unavailable": ModelUnavailable,
    "model_timeout": ModelTimedOut,
    "rate_limited": RateLimited,
    "model_refused": ModelRefused,
    "context_too_long": ContextTooLong,
}


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call. `arguments` replaces `input` with the model's raw text, for arguments that are not JSON."""

    tool: str
    input: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    arguments: str | None = None


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    thinking: str | list[str] = ""
    text: str | list[str] = ""
    every_ms: int = 0
    calls: list[Call] = []
    usage: Usage = Usage()
    finish: FinishReason | None = None
    error: ErrorCode | None = None


SUMMARY = Turn(text="The user and the assistant talked.")  # of a model whose turns are a list

Turns: TypeAlias = Sequence[Mapping[str, Any]] | Callable[[Conversation], Mapping[str, Any]]
Sleep = Callable[[float], Awaitable[object]]


def parse(turns: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Parse the turns. Raise Invalid if one is wrong."""
    return [_parse(turn, f"Turn {place}") for place, turn in enumerate(turns, 1)]


def _parse(turn: Mapping[str, Any], label: str) -> Turn:
    try:
        return msgspec.convert(turn, Turn)
    except msgspec.ValidationError as error:
        raise Invalid(f"{label} of the scripted model is invalid: {error}.") from None


class ScriptedModel:
    def __init__(self, turns: Turns, sleep: Sleep = asyncio.sleep) -> None:
        self._turns = turns if callable(turns) else parse(turns)
        self._sleep = sleep

    async def stream(self, request: Request, /) -> AsyncGenerator[AnswerPiece, None]:
        number = _turns_taken(request.messages)
        is_listed = not callable(self._turns)
        turn = SUMMARY if is_listed and request.purpose == "summary" else self._turn(number, request.messages)
        for piece in _pieces(turn.thinking):
            await self._pause(turn)
            yield Thinking(piece)
        for piece in _pieces(turn.text):
            await self._pause(turn)
            yield Text(piece)
        if turn.error is not None:
            raise ERRORS[turn.error]
        yield Finished(message=_message(turn, number), usage=turn.usage, reason=turn.finish or _reason(turn))

    def _turn(self, number: int, conversation: Conversation) -> Turn:
        if callable(self._turns):
            return _parse(self._turns(conversation), f"Turn {number + 1}")
        if number >= len(self._turns):
            raise ModelRefused("The scripted model has no more turns; add one to `turns`.")
        turn = self._turns[number]
        assert isinstance(turn, Turn)
        return turn

    async def _pause(self, turn: Turn) -> None:
        if turn.every_ms:
            await self._sleep(turn.every_ms / 1000)


def _turns_taken(conversation: Conversation) -> int:
    """Return how often the assistant has spoken since the last user message."""
    roles = [message["role"] for message in conversation]
    since = len(roles) - roles[::-1].index("user") if "user" in roles else 0
    return roles[since:].count("assistant")


def _pieces(text: str | list[str]) -> list[str]:
    return text if isinstance(text, list) else [text] if text else []


def _reason(turn: Turn) -> FinishReason:
    return "tool_calls" if turn.calls else "stop"


def _message(turn: Turn, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(_pieces(turn.text)) or None}
    if turn.thinking:
        message["reasoning_content"] = "".join(_pieces(turn.thinking))
    if turn.calls:
        message["tool_calls"] = [_call(call, f"call_{number + 1}_{n}") for n, call in enumerate(turn.calls, 1)]
    return message


def _call(call: Call, name: str) -> dict[str, Any]:
    arguments = msgspec.json.encode(call.input).decode() if call.arguments is None else call.arguments
    return {
        "id": name if call.id is None else call.id,
        "type": "function",
        "function": {"name": call.tool, "arguments": arguments},
    }
