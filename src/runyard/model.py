"""What a model promises: asked once, it says something piece by piece, and then the whole of it.

`stream` yields deltas as they come and, last and exactly once, a `Finished` with the whole assistant message in the
shape of OpenAI's chat. Text of the message is what the `Text` deltas add up to. Everything that can go wrong is a
ModelError with a stable code and no content. What is tried again is tried before the first delta, never after it.
A stream that is closed early, or whose task is cancelled, closes its request: nothing is generated for nobody.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from runyard.domain.events import Usage

FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]
Conversation: TypeAlias = Sequence[Mapping[str, Any]]


class Request(Struct, frozen=True, kw_only=True):
    """One question to a model. `tools` are functions with JSON schemas, `options` what its provider takes beyond."""

    model: str
    messages: Conversation
    tools: Sequence[Mapping[str, Any]] = ()
    max_output_tokens: int | None = None
    options: Mapping[str, Any] = MappingProxyType({})


class Text(Struct, frozen=True):
    text: str


class Thinking(Struct, frozen=True):
    text: str


class Finished(Struct, frozen=True, kw_only=True):
    """The whole message. Tool calls have ids, names and arguments as the provider gave them, checked by nobody."""

    message: dict[str, Any]
    usage: Usage
    reason: FinishReason


PostedMessage: TypeAlias = Text | Thinking | Finished


class Model(Protocol):
    def stream(self, request: Request, /) -> AsyncGenerator[PostedMessage, None]: ...
