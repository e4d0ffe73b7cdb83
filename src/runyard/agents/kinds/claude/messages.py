"""The messages of Claude Agent SDK as types of Runyard. Pure: recognized by shape, without importing the SDK.

A message of the model arrives in pieces, one per block, all with the message's id. Other messages are ignored: the
results of our own tools, and the SDK's status messages.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.domain.events import Usage
from runyard.domain.runs.run import StopReason
from runyard.errors import AgentError, ModelRefused, ModelUnavailable, RateLimited

SERVER = "runyard"
PREFIX = f"mcp__{SERVER}__"
STOPS: dict[str, StopReason] = {
    "error_max_turns": "max_steps",
    "error_max_budget_usd": "max_tokens_exceeded",
    "success": "end_turn",
}
REFUSED = frozenset({400, 401, 403, 404, 413, 422})


class ToolUse(Struct, frozen=True):
    """A tool call that the model requests."""

    id: str
    name: str
    input: dict[str, Any]


class MessagePiece(Struct, frozen=True):
    """One piece of a message of the model."""

    message_id: str
    model: str
    text: str = ""
    thinking: str = ""
    tool_uses: Sequence[ToolUse] = ()
    usage: Usage = Usage()


class QueryEnd(Struct, frozen=True):
    """The end of a query: its reason, its cost, and the session that the next query can continue.

    `usage.usd` is the cost of the whole session so far."""

    session_id: str
    why: StopReason
    usage: Usage
    error: AgentError | None = None


SdkMessage = MessagePiece | QueryEnd


def read_message(message: Any) -> SdkMessage | None:
    if hasattr(message, "total_cost_usd"):
        return _query_end(message)
    if hasattr(message, "model") and isinstance(message.content, list):
        return _piece(message)
    return None


def _piece(message: Any) -> MessagePiece:
    blocks = message.content
    return MessagePiece(
        message.message_id or "",
        message.model,
        "".join(block.text for block in blocks if hasattr(block, "text")),
        "".join(block.thinking for block in blocks if hasattr(block, "thinking")),
        [ToolUse(b.id, b.name.removeprefix(PREFIX), b.input) for b in blocks if hasattr(b, "input")],
        _usage(message.usage),
    )


def _query_end(message: Any) -> QueryEnd:
    why = STOPS.get(message.subtype)
    failed = why is None or (message.is_error and message.subtype == "success")
    return QueryEnd(
        message.session_id,
        why or "error",
        _usage(message.usage, message.total_cost_usd or 0.0),
        _failure(getattr(message, "api_error_status", None)) if failed else None,
    )


def _failure(status: int | None) -> AgentError:
    """Return the error for an HTTP status of the provider. The SDK's own message may hold content."""
    if status == 429:
        return RateLimited()
    return ModelRefused() if status in REFUSED else ModelUnavailable()


def _usage(counted: dict[str, Any] | None, usd: float = 0.0) -> Usage:
    """Return the usage. Tokens read from or written to the provider's cache count as input."""
    known = counted or {}
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(sum(known.get(name) or 0 for name in read), known.get("output_tokens") or 0, usd)
