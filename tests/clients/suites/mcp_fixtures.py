"""Agents with the names that the conformance suite of MCP calls, and a server that they listen on.

The tools of the suite have their own arguments, such as `seconds`. An agent takes a message, so a wrapper around the
app puts the arguments into it, as JSON. Everything else reaches the app as the suite sent it.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import BaseModel
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import runyard
from runyard.errors import AgentError

DOT = b"\x89PNG\r\n\x1a\n" + bytes(8)
DEFAULTS = {"seconds": 0, "name": "World", "message": ""}


class User(BaseModel):
    username: str
    email: str


def form(**fields: str) -> dict[str, Any]:
    """The schema of an object with these fields and their types."""
    properties = {name: {"type": kind} for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(fields)}


def given(ctx: runyard.Context) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ctx.message.text)
    return DEFAULTS | found


@runyard.agent
async def greet(ctx: runyard.Context) -> str:
    return f"Hello, {given(ctx)['name']}!"


@runyard.agent
async def slow_compute(ctx: runyard.Context) -> str:
    await asyncio.sleep(given(ctx)["seconds"])  # waits on purpose: the suite says how long
    return "computed"


async def fail(ctx: runyard.Context) -> str:
    raise AgentError("This tool intentionally returns an error for testing")


@runyard.agent
async def confirm_delete(ctx: runyard.Context) -> str:
    answer = await ctx.ask("Delete the file?", form(confirm="boolean"))
    return "deleted" if answer["confirm"] else "kept"


@runyard.agent
async def multi_input(ctx: runyard.Context) -> str:
    name = form(name="string")
    found = await asyncio.gather(ctx.ask("First name?", name), ctx.ask("Last name?", name))
    return " ".join(each["name"] for each in found)


@runyard.agent
async def test_simple_text(ctx: runyard.Context) -> str:
    return "This is a simple text response for testing."


@runyard.agent
async def test_image_content(ctx: runyard.Context) -> runyard.Output:
    await ctx.attach("dot.png", DOT, "image/png")
    return runyard.Output()


@runyard.agent
async def test_audio_content(ctx: runyard.Context) -> runyard.Output:
    await ctx.attach("hum.wav", b"RIFF\0\0\0\0WAVE", "audio/wav")
    return runyard.Output()


@runyard.agent
async def test_embedded_resource(ctx: runyard.Context) -> runyard.Output:
    await ctx.attach("page.txt", b"This is an embedded resource content.", "text/plain")
    return runyard.Output()


@runyard.agent
async def test_multiple_content_types(ctx: runyard.Context) -> str:
    await ctx.attach("dot.png", DOT, "image/png")
    await ctx.attach("page.json", b"{}", "application/json")
    return "Multiple content types test:"


@runyard.agent
async def test_tool_with_progress(ctx: runyard.Context) -> str:
    for line in ("one\n", "two\n", "three\n"):
        await ctx.token(line)
    return ctx.written()


@runyard.agent
async def test_elicitation(ctx: runyard.Context) -> str:
    user = await ctx.ask(given(ctx)["message"], User)
    return f"User response: {user.username} {user.email}"


async def ask_for_a_name(ctx: runyard.Context) -> str:
    return f"Hello, {await ctx.ask('What is your name?', form(name='string'))}!"


async def ask_for_consent(ctx: runyard.Context) -> str:
    return f"state-ok {await ctx.ask('Is it fine?', form(ok='boolean'))}"


async def ask_twice(ctx: runyard.Context) -> str:
    first = await ctx.ask("What is your name?", form(name="string"))
    second = await ctx.ask("Which color?", {"type": "object", "properties": {"color": {"type": "string"}}})
    return f"{first['name']} {second}"


ASKING = [
    runyard.agent(name=f"test_{name}")(function)
    for name, function in (
        ("streaming_elicitation", ask_for_a_name),
        ("input_required_result_elicitation", ask_for_a_name),
        ("input_required_result_request_state", ask_for_consent),
        ("input_required_result_tampered_state", ask_for_a_name),
        ("input_required_result_multi_round", ask_twice),
    )
]
FAILING = [runyard.agent(name=name)(fail) for name in ("failing_job", "test_error_handling")]
AGENTS = [
    *ASKING,
    *FAILING,
    greet,
    slow_compute,
    confirm_delete,
    multi_input,
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_tool_with_progress,
    test_elicitation,
]


class WithMessage:
    """Puts the arguments of tool calls into a message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/mcp"):
            await self._app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            piece = await receive()
            body, more = body + piece.get("body", b""), piece.get("more_body", False)
        body = _wrapped(body)
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        sent = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return sent.pop() if sent else await receive()

        changed = {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}
        await self._app(changed, again, send)


def _wrapped(body: bytes) -> bytes:
    try:
        found = json.loads(body)
        if found["method"] == "tools/call":
            found["params"]["arguments"] = {"message": json.dumps(found["params"].get("arguments", {}))}
    except (ValueError, KeyError, TypeError):
        return body
    return json.dumps(found).encode()


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[str]:
    """Serve the agents on SQLite. The address of `/mcp`."""
    settings = runyard.Settings(database_url=f"sqlite:///{folder / 'runs.db'}", poll_seconds=0.05)
    app = runyard.App({each.name: each for each in AGENTS}, {}, "greet")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(WithMessage(runyard.create_app(settings, app, keys=False)), log_config=None)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await running
