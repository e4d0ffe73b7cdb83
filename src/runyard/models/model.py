"""The interface of a language model: one request, a stream of pieces, then the whole message.

`stream` yields pieces as they arrive and, last and exactly once, a `Finished` with the whole assistant message in the
format of OpenAI's chat API. The `Text` pieces add up to the text of the message. Every failure is a ModelError with a
stable code and no content. An implementation may retry only before the first piece. Closing the stream early, or
cancelling its task, closes the request to the provider.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from runyard.domain.events import Usage

FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]
Conversation: TypeAlias = Sequence[Mapping[str, Any]]


class Request(Struct, frozen=True, kw_only=True):
    """One request to a model. `tools` are functions with JSON schemas; `options` are passed to the provider.

    `answer` is the JSON Schema that the answer should fit. `purpose` tells a scripted model what it is asked for."""

    model: str
    messages: Conversation
    tools: Sequence[Mapping[str, Any]] = ()
    max_output_tokens: int | None = None
    options: Mapping[str, Any] = MappingProxyType({})
    answer: Mapping[str, Any] | None = None
    purpose: Literal["answer", "summary"] = "answer"


class Text(Struct, frozen=True):
    """A piece of the message's text."""

    text: str


class Thinking(Struct, frozen=True):
    """A piece of reasoning."""

    text: str


class Finished(Struct, frozen=True, kw_only=True):
    """The whole message. The ids, names and arguments of its tool calls are the provider's and are not checked."""

    message: dict[str, Any]
    usage: Usage
    reason: FinishReason


AnswerPiece: TypeAlias = Text | Thinking | Finished


class Model(Protocol):
    """A language model."""

    def stream(self, request: Request, /) -> AsyncGenerator[AnswerPiece, None]: ...
