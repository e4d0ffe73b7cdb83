"""Shared parts of the runners of other frameworks, besides the run itself: responses, tools, history, errors."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from runyard.agents.execution import Execution
from runyard.agents.tools.sources import ForeignTool
from runyard.agents.tools.tool import Effects
from runyard.errors import ModelError, ModelRefused, ModelUnavailable, RateLimited


class RequestedTool(Struct, frozen=True):
    """A call that a model requests. `input` is the object that the model wrote."""

    call_id: str
    name: str
    input: dict[str, Any]


class Said(Struct, frozen=True):
    """The parts of a model's response that followers of a run see."""

    text: str
    calls: Sequence[RequestedTool] = ()

    def as_message(self) -> dict[str, Any]:
        """Return a message of OpenAI's chat API, from which later runs know what was said."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.call_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": msgspec.json.encode(call.input).decode()},
                }
                for call in self.calls
            ]
        return message


class FrameworkTool(ForeignTool):
    """A tool of the framework. The framework has checked its input."""

    def __init__(self, name: str, call: Callable[[dict[str, Any]], Awaitable[Any]], effects: Effects) -> None:
        super().__init__(call, "", {}, name="tool", effects=effects)
        self.name = name  # the framework's names may have other characters than ours

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return dict(given)


async def said_before(execution: Execution, limit: int) -> list[dict[str, Any]]:
    """Return the messages of up to `limit` earlier runs of the thread and those that the client supplied, oldest first.
    They have the format of OpenAI's chat API."""
    earlier = [said async for said in execution.earlier_runs(limit)] if limit else []
    options = execution.state.options
    supplied = [] if options is None else list(options.earlier)
    return [message for said in reversed(earlier) for message in said] + supplied


def failure_of_provider(status: int | None) -> ModelError:
    """Return the error for an HTTP status of a provider. The provider's own message may hold content."""
    if status == 429:
        return RateLimited()
    return ModelRefused() if status is not None and 400 <= status < 500 else ModelUnavailable()
