"""Every model that litellm supports, behind `runyard.models.model.Model`.

litellm is large; `loading.py` imports it. It reads prices from its own file, and its logging is off because its logs
may hold content.

Only failures before the first piece are retried (a refused connection, a busy or failing provider), with growing pauses
or the pause that the provider asks for. An answer that stops without a finish reason is an error, even if the
connection was closed cleanly.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from runyard.domain.events import Usage
from runyard.errors import (
    ContextTooLong,
    FilesNotSupported,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
    RateLimited,
)
from runyard.models.answer_schemas import instructed, is_strict
from runyard.models.loading import load_beside_the_loop
from runyard.models.model import AnswerPiece, Finished, FinishReason, Request, Text, Thinking

Sleep = Callable[[float], Awaitable[object]]


class Patience(Struct, frozen=True, kw_only=True):
    """Timeouts and retries, in seconds: for the connection, the first piece and each next piece; the number of tries,
    the first pause between them, and the longest pause that a provider may ask for."""

    connect: float = 10
    first: float = 120
    next: float = 60
    tries: int = 3
    pause: float = 0.5
    longest_pause: float = 20


class LitellmModel:
    def __init__(self, patience: Patience | None = None, sleep: Sleep = asyncio.sleep) -> None:
        self._patience = patience or Patience()
        self._sleep = sleep

    async def stream(self, request: Request, /) -> AsyncGenerator[AnswerPiece, None]:
        litellm = await load_beside_the_loop()
        _check_files(litellm, request)
        has_started = False
        for attempt in range(1, self._patience.tries + 1):
            try:
                async with aclosing(self._ask(litellm, request)) as pieces:
                    async for piece in pieces:
                        has_started = True
                        yield piece
                return
            except Exception as error:  # litellm raises its own errors, of its HTTP client, and plain ones
                failure = _failure(litellm, error)
                if not has_started:
                    failure = _missing_key(litellm, request, failure) or failure
                pause = None if has_started else self._pause(failure, error, attempt)
                if pause is None:
                    raise failure from None  # its message may hold content
            await self._sleep(pause)

    async def _ask(self, litellm: Any, request: Request) -> AsyncGenerator[AnswerPiece, None]:
        patience = self._patience
        deadline = asyncio.get_running_loop().time() + patience.first
        stream = await _by(deadline, litellm.acompletion(**_arguments(litellm, request, patience)))
        message = _Message()
        try:
            while True:
                try:
                    chunk = await _by(deadline, anext(stream))
                except StopAsyncIteration:
                    break
                deadline = asyncio.get_running_loop().time() + patience.next
                for piece in message.take(chunk):
                    yield piece
            yield message.finished(_finish_reason(stream), lambda usage: _cost(litellm, request.model, usage))
        finally:
            await stream.aclose()

    def _pause(self, failure: ModelError, error: Exception, attempt: int) -> float | None:
        """Return the pause before the next try, or None if there is none."""
        if attempt == self._patience.tries or not isinstance(failure, ModelUnavailable):
            return None
        asked = _retry_after(error)
        if asked is None:
            return self._patience.pause * 2.0 ** (attempt - 1)
        return asked if asked <= self._patience.longest_pause else None


async def _by(deadline: float, answer: Awaitable[Any]) -> Any:
    """Await with a deadline. Raise TimeoutError even if litellm turns the cancellation into another error."""
    patience = asyncio.timeout_at(deadline)
    try:
        async with patience:
            return await answer
    except Exception:
        if patience.expired():
            raise TimeoutError from None
        raise


def _check_files(litellm: Any, request: Request) -> None:
    """Raise FilesNotSupported if litellm knows the model and knows that it takes no such files. Other models decide for
    themselves."""
    contents = [message.get("content") for message in request.messages]
    kinds = {block.get("type") for content in contents if isinstance(content, list) for block in content}
    for kind, ability, name in (("image_url", "supports_vision", "images"), ("file", "supports_pdf_input", "files")):
        if kind in kinds and _lacks(litellm, request.model, ability):
            raise FilesNotSupported(
                f"The model {request.model} takes no {name}. Choose a model that does, or send text."
            )


def _lacks(litellm: Any, model: str, ability: str) -> bool:
    try:
        return not litellm.get_model_info(model).get(ability)
    except Exception:  # litellm does not know the model
        return False


# --- the request -----------------------------------------------------------------------------------------------------


def _arguments(litellm: Any, request: Request, patience: Patience) -> dict[str, Any]:
    from httpx import Timeout  # comes with litellm

    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [_sendable(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "timeout": Timeout(patience.first, connect=patience.connect),
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
    }
    if request.tools:
        arguments["tools"] = list(request.tools)
    if request.max_output_tokens is not None:
        arguments["max_tokens"] = request.max_output_tokens
    if request.answer is not None:
        arguments |= _with_schema(litellm, request, arguments["messages"], request.answer)
    return arguments | dict(request.options)


def _with_schema(
    litellm: Any, request: Request, messages: list[dict[str, Any]], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments that ask for an answer of this schema: the provider's own, or else an instruction."""
    if not _takes_schema(litellm, request):
        return {"messages": instructed(messages, schema)}
    described = {"name": "answer", "schema": dict(schema), "strict": is_strict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _takes_schema(litellm: Any, request: Request) -> bool:
    """Return whether the provider takes the schema of an answer. For some providers litellm replaces it by a tool that
    the model must call, which hides the agent's own tools; with tools, only these two are known not to need that."""
    try:
        provider = litellm.get_llm_provider(request.model)[1]
        takes = bool(litellm.supports_response_schema(request.model))
    except Exception:  # litellm raises errors of its own for a model that it does not know
        return False
    return takes and (not request.tools or provider in ("openai", "azure"))


def _sendable(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message with JSON objects as the arguments of its calls, because some providers parse them again."""
    if not message.get("tool_calls"):
        return dict(message)
    calls = [call | {"function": _with_object(call["function"])} for call in message["tool_calls"]]
    return dict(message) | {"tool_calls": calls}


def _with_object(function: dict[str, Any]) -> dict[str, Any]:
    try:
        is_object = isinstance(msgspec.json.decode(function["arguments"]), dict)
    except msgspec.DecodeError:
        is_object = False
    return function if is_object else function | {"arguments": "{}"}


# --- the answer ----------------------------------------------------------------------------------------------------


class _Message:
    """Builds an assistant message from its chunks."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._blocks: list[dict[str, Any]] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: Any = None

    def take(self, chunk: Any) -> Iterator[AnswerPiece]:
        self._usage = getattr(chunk, "usage", None) or self._usage
        for choice in chunk.choices[:1]:
            delta = choice.delta
            if thinking := getattr(delta, "reasoning_content", None):
                self._thinking.append(thinking)
                yield Thinking(thinking)
            for block in getattr(delta, "thinking_blocks", None) or ():
                self._add_block(dict(block))
            if text := getattr(delta, "content", None):
                self._text.append(text)
                yield Text(text)
            for call in getattr(delta, "tool_calls", None) or ():
                self._add_call(call)

    def finished(self, reason: FinishReason | None, cost: Callable[[Any], float]) -> Finished:
        if reason is None:
            raise ModelUnavailable("The model's answer was cut off; try again.")
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        if self._thinking:
            message["reasoning_content"] = "".join(self._thinking)
        if self._blocks:
            message["thinking_blocks"] = self._blocks
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        usage = Usage()
        if self._usage is not None:
            usage = Usage(self._usage.prompt_tokens or 0, self._usage.completion_tokens or 0, cost(self._usage))
        return Finished(message=message, usage=usage, reason=reason)

    def _add_call(self, delta: Any) -> None:
        """Add a piece of a tool call. Pieces of several calls are interleaved; the index identifies the call."""
        call = self._calls.setdefault(
            delta.index or 0, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        call["id"] = call["id"] or delta.id or ""
        if delta.function is not None:
            call["function"]["name"] += delta.function.name or ""
            call["function"]["arguments"] += delta.function.arguments or ""

    def _add_block(self, block: dict[str, Any]) -> None:
        """Add a piece of a block of signed reasoning. The signature ends the block."""
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.get("signature") or last.get("type") != block.get("type") or "thinking" not in last:
            self._blocks.append(block)
            return
        last["thinking"] += block.get("thinking") or ""
        if block.get("signature"):
            last["signature"] = block["signature"]


def _finish_reason(stream: Any) -> FinishReason | None:
    """Return the provider's finish reason; None if it sent none (litellm then invents "stop")."""
    given = getattr(stream, "received_finish_reason", None) or getattr(stream, "intermittent_finish_reason", None)
    match given:
        case None:
            return None
        case "tool_calls" | "function_call":
            return "tool_calls"
        case "length" | "max_tokens":
            return "length"
        case "content_filter":
            return "content_filter"
        case _:
            return "stop"


def _cost(litellm: Any, model: str, usage: Any) -> float:
    """Return the cost in US dollars; 0 if litellm does not know the model's price."""
    try:
        return float(sum(litellm.cost_per_token(model=model, usage_object=usage)))
    except Exception:  # litellm raises a plain Exception for an unknown model
        return 0.0


# --- failures ------------------------------------------------------------------------------------------------------


def _failure(litellm: Any, error: BaseException) -> ModelError:
    """Return our error for a failure of litellm, without its message."""
    while (inner := getattr(error, "original_exception", None)) is not None:  # litellm wraps errors inside a stream
        error = inner
    if isinstance(error, ModelError):
        return error
    if isinstance(error, litellm.ContextWindowExceededError):
        return ContextTooLong()
    if isinstance(error, TimeoutError | litellm.Timeout):
        return ModelTimedOut()
    status = getattr(error, "status_code", None)
    if isinstance(error, litellm.RateLimitError) or status == 429:
        return RateLimited()
    if status in (401, 403):
        return ModelRefused("The model's provider rejected the API key; check its environment variable.")
    if status == 404:
        return ModelRefused("The model's provider does not know this model; check the agent's `model`.")
    if isinstance(status, int) and 400 <= status < 500 and status != 408:
        return ModelRefused()
    return ModelUnavailable()


def _missing_key(litellm: Any, request: Request, failure: ModelError) -> ModelRefused | None:
    """Return an error that names the missing environment variable, if the request failed without the provider's key."""
    if type(failure) not in (ModelUnavailable, ModelRefused) or "api_key" in request.options:
        return None
    try:
        missing = litellm.validate_environment(request.model)["missing_keys"]
    except Exception:  # litellm raises a plain Exception for an unknown model
        return None
    names = [name for name in missing if name.endswith("_KEY")]
    if not names:
        return None
    return ModelRefused(f"The model {request.model} needs a key: set the environment variable {' and '.join(names)}.")


def _retry_after(error: BaseException) -> float | None:
    """Return the pause in seconds that the provider asks for, if any."""
    response = getattr(error, "response", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None) or {}
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, TypeError, ValueError):
        return None
