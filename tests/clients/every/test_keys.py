"""Every client sends its key in its own way. A wrong key is an error that the client understands."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.clients.conftest import APP, make_key, ran
from tests.clients.test_mcp import REVISIONS, text
from tests.support.eventually import PATIENCE
from tests.support.scenario.flow import Flow

HELLO = "Hello, dear guest."
WRONG = "A valid API key is required"
PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {
    "ag-ui": ("ag_ui_client.mjs", {}),
    "ai default": ("ai_sdk_client.mjs", {"TRANSPORT": "default"}),
    "ai workflow": ("ai_sdk_client.mjs", {"TRANSPORT": "workflow", "CHAT": "chat-2"}),
    "eventsource": ("eventsource_client.mjs", {}),
    "openai py": ("openai_client.py", {}),
    "openai js": ("openai_client.mjs", {}),
    "langgraph py": ("langgraph_client.py", {}),
    "langgraph js": ("langgraph_client.mjs", {}),
    "thread stream": ("langgraph_thread_client.mjs", {}),
    "mcp, sessions": ("mcp_client.mjs", {"MODE": "legacy"}),
    "mcp, stateless": ("mcp_client.mjs", {"MODE": "auto"}),
    "a2a py, JSON-RPC": ("a2a_client.py", {"BINDING": "JSONRPC"}),
    "a2a py, REST": ("a2a_client.py", {"BINDING": "HTTP+JSON"}),
    "a2a js, JSON-RPC": ("a2a_client.mjs", {"BINDING": "JSONRPC"}),
    "a2a js, REST": ("a2a_client.mjs", {"BINDING": "HTTP+JSON"}),
}


async def test_the_key_of_each_client_is_a_key_of_the_server(sqlite_flow: Flow) -> None:
    key = await make_key(sqlite_flow)
    pod = await sqlite_flow.start("serve", app=APP, keys="needed")
    results = await asyncio.gather(
        *(ran(program, "key", pod.url, API_KEY=key, **more) for program, more in PROGRAMS.values())
    )
    found = dict(zip(PROGRAMS, results, strict=True))
    assert {name: each["text"] for name, each in found.items()} == dict.fromkeys(PROGRAMS, HELLO)
    denied = {name: each["denied"] for name, each in found.items()}
    assert denied["ag-ui"] == [401, "RUN_ERROR", "key_required"]
    assert denied["eventsource"] == 401
    assert denied["langgraph py"] == ["AuthenticationError", "key_required"]
    for name in ("openai py", "openai js"):
        assert denied[name] == ["AuthenticationError", "key_required"]
    for name in ("ai default", "ai workflow", "langgraph js", "thread stream", "a2a js, JSON-RPC", "a2a js, REST"):
        assert WRONG in str(denied[name])
    for name in ("mcp, sessions", "mcp, stateless"):
        assert denied[name] == ["UnauthorizedError", "Unauthorized"]
    for name in ("a2a py, JSON-RPC", "a2a py, REST"):
        assert denied[name] == "A2AClientError: HTTP Error 401: Client error '401 Unauthorized'"


@pytest.mark.parametrize("mode", REVISIONS)
async def test_the_key_of_mcp_for_python_is_a_key_of_the_server(sqlite_flow: Flow, mode: Any) -> None:
    key = await make_key(sqlite_flow)
    pod = await sqlite_flow.start("serve", app=APP, keys="needed")
    async with keyed(pod.url, key, mode) as client:
        assert text(await client.call_tool("helper", {"message": "hello"})) == HELLO
    with pytest.raises(BaseExceptionGroup) as denied:
        async with keyed(pod.url, "wrong", mode):
            pass
    refused = first_of(denied.value)
    assert isinstance(refused, MCPError)
    assert (WRONG in str(refused), refused.error.data) == (True, {"code": "key_required"})


def first_of(error: BaseException) -> BaseException:
    """Return the error within groups of errors."""
    return first_of(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def keyed(url: str, key: str, mode: Any) -> Client:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE)
    return Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode, cache=None)
