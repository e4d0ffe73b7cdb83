"""The tool calls in a model's message, checked against the agent's tools.

A call that cannot be made (an unknown tool, arguments that are not JSON or do not fit) has a `problem`: an error code
and the text that the model gets, so that it can try again.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from runyard.agents.json_values import plain
from runyard.agents.tools.tool import Tool
from runyard.errors import Invalid


class Problem(NamedTuple):
    error: str
    said: str


def _problem(error: str, why: str) -> Problem:
    return Problem(error, f"Error executing tool: {why}")


class RequestedCall(Struct, frozen=True):
    """One call that the model requests. Without a problem, `given` is an object that fits the tool."""

    call_id: str
    name: str
    given: Any
    tool: Tool[..., Any] | None = None
    problem: Problem | None = None

    @property
    def is_valid(self) -> bool:
        return self.problem is None

    @property
    def ends_turn(self) -> bool:
        return self.problem is None and self.tool is not None and self.tool.ends_turn


def requested_calls(message: Mapping[str, Any], tools: Mapping[str, Tool[..., Any]]) -> list[RequestedCall]:
    return [_requested_call(call["id"], call["function"], tools) for call in message.get("tool_calls") or ()]


def _requested_call(call_id: str, function: Mapping[str, Any], tools: Mapping[str, Tool[..., Any]]) -> RequestedCall:
    name, text = function["name"], function["arguments"]
    tool = tools.get(name)
    try:
        given = plain(msgspec.json.decode(text or "{}"))
    except (msgspec.DecodeError, ValueError):
        return RequestedCall(call_id, name, text, tool, _problem("invalid_input", "The arguments are not valid JSON."))
    if tool is None:
        return RequestedCall(call_id, name, given, None, _problem("unknown_tool", "There is no tool of that name."))
    if not isinstance(given, dict):
        return RequestedCall(
            call_id, name, given, tool, _problem("invalid_input", "The arguments are not a JSON object.")
        )
    given = tool.in_order(given)
    try:
        tool.check(given)
    except Invalid as error:
        return RequestedCall(call_id, name, given, tool, _problem("invalid_input", error.message))
    return RequestedCall(call_id, name, given, tool)


def with_own_ids(message: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
    """Return the message with call ids that are unique in the run. Some providers send none, or the same ones in every
    turn."""
    if not message.get("tool_calls"):
        return dict(message)
    seen, calls = set(taken), []
    for call in message["tool_calls"]:
        call_id = call["id"] or "call"
        number = len(seen)
        while call_id in seen:
            number += 1
            call_id = f"{call['id'] or 'call'}_{number}"
        seen.add(call_id)
        calls.append({**call, "id": call_id})
    return {**message, "tool_calls": calls}
