"""A request of each face that asks an agent in a thread, and streams the answer."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

Request = Callable[[str, str], tuple[str, dict[str, Any]]]  # from an agent and a thread to a path and a body


def ai(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    message = {"id": str(uuid4()), "role": "user", "parts": [{"type": "text", "text": "hi"}]}
    return f"/api/ai/{agent}", {"id": thread, "messages": [message], "trigger": "submit-message"}


def ag_ui(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    message = {"id": str(uuid4()), "role": "user", "content": "hi"}
    nothing: dict[str, Any] = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    return f"/api/ag-ui/{agent}", {"threadId": thread, "runId": str(uuid4()), "messages": [message], **nothing}


def responses(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    return "/v1/responses", {"model": agent, "input": "hi", "stream": True}


def completions(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    messages = [{"role": "user", "content": "hi"}]
    return "/v1/chat/completions", {"model": agent, "messages": messages, "stream": True}


def mcp(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    called = {"name": agent, "arguments": {"message": "hi", "thread_id": thread}, "_meta": {"progressToken": "p"}}
    return "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}


def a2a(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": "hi"}], "contextId": thread}
    params = {"message": message}
    return f"/a2a/{agent}", {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": params}


def langgraph(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    asked = {"assistant_id": agent, "input": "hi", "stream_mode": "messages-tuple", "if_not_exists": "create"}
    return f"/langgraph/threads/{thread}/runs/stream", asked


REQUESTS: Mapping[str, Request] = {
    "ai": ai,
    "ag-ui": ag_ui,
    "responses": responses,
    "completions": completions,
    "mcp": mcp,
    "a2a": a2a,
    "langgraph": langgraph,
}
