"""What Claude Agent SDK tells of a query, in words of ours. Pure, and known by shape: the SDK need not be there.

A message of the model comes in pieces, one for each of its blocks, all with the message's id. What is none of these is
left out: the results of our own tools, which we know, and news of the SDK about itself.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.domain.events import Usage
from runyard.domain.run import StopReason
from runyard.errors import AgentError, ModelRefused, ModelUnavailable, RateLimited

SERVER = "runyard"
PREFIX = f"mcp__{SERVER}__"
STOPS: dict[str, StopReason] = {
    "error_max_turns": "max_steps",
    "error_max_budget_usd": "max_tokens_exceeded",
    "success": "end_turn",
}
REFUSED = frozenset({400, 401, 403, 404, 413, 422})


class Wanted(Struct, frozen=True):
    """A call that the model wants."""

    id: str
    name: str
    input: dict[str, Any]


class Spoke(Struct, frozen=True):
    """A piece of a message of the model."""

    message_id: str
    model: str
    text: str = ""
    thinking: str = ""
    wanted: Sequence[Wanted] = ()
    usage: Usage = Usage()


class Ended(Struct, frozen=True):
    """The query is over: why, under which session it can be gone on with, and what it cost. `usage.usd` is what the
    whole session cost so far."""

    session_id: str
    why: StopReason
    usage: Usage
    error: AgentError | None = None


Heard = Spoke | Ended


def heard(message: Any) -> Heard | None:
    if hasattr(message, "total_cost_usd"):
        return _ended(message)
    if hasattr(message, "model") and isinstance(message.content, list):
        return _spoke(message)
    return None


def _spoke(message: Any) -> Spoke:
    blocks = message.content
    return Spoke(
        message.message_id or "",
        message.model,
        "".join(block.text for block in blocks if hasattr(block, "text")),
        "".join(block.thinking for block in blocks if hasattr(block, "thinking")),
        [Wanted(b.id, b.name.removeprefix(PREFIX), b.input) for b in blocks if hasattr(b, "input")],
        _usage(message.usage),
    )


def _ended(message: Any) -> Ended:
    why = STOPS.get(message.subtype)
    failed = why is None or (message.is_error and message.subtype == "success")
    return Ended(
        message.session_id,
        why or "error",
        _usage(message.usage, message.total_cost_usd or 0.0),
        _failure(getattr(message, "api_error_status", None)) if failed else None,
    )


def _failure(status: int | None) -> AgentError:
    """Why there is no answer. The words of the SDK may repeat content."""
    if status == 429:
        return RateLimited()
    return ModelRefused() if status in REFUSED else ModelUnavailable()


def _usage(counted: dict[str, Any] | None, usd: float = 0.0) -> Usage:
    """What was read from or put into the provider's cache was read by the model as well."""
    known = counted or {}
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(sum(known.get(name) or 0 for name in read), known.get("output_tokens") or 0, usd)
