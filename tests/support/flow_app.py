"""The app of the flow tests. One agent, `player`, plays the program that its message holds: a JSON list of operations.
Another, `thinker`, has a scripted model whose turns its message holds; a turn that is `"repeat"` says what it was told.

What it does to the world goes to append-only files in the test's folder; where it waits, a test holds the gate: the
agent says in `reached` that it is there, and goes on when the file `open/<gate>` (or `open/<gate>.<pid>`) exists.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import runyard
from runyard.errors import Rejected, UnknownOutcome
from runyard.model import Conversation
from tests.support.notes import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))


async def _gate(name: str) -> None:
    notes.write("reached", name, os.getpid())
    while not notes.is_open(name):  # noqa: ASYNC110 (the gate is a file)
        await asyncio.sleep(0.005)


@runyard.tool(effects="none")
async def look(what: str, idempotency_key: str, gate: str = "") -> dict[str, str]:
    return await _act("look", what, idempotency_key, gate)


@runyard.tool(effects="idempotent")
async def save(what: str, idempotency_key: str, gate: str = "") -> dict[str, str]:
    return await _act("save", what, idempotency_key, gate)


@runyard.tool(effects="once")
async def pay(what: str, idempotency_key: str, gate: str = "") -> dict[str, str]:
    return await _act("pay", what, idempotency_key, gate)


@runyard.tool(effects="once", approval="always")
async def send(what: str, idempotency_key: str, gate: str = "") -> dict[str, str]:
    return await _act("send", what, idempotency_key, gate)


async def _act(tool: str, what: str, key: str, gate: str) -> dict[str, str]:
    notes.write("effects", tool, key, os.getpid())
    if gate:
        await _gate(gate)
    return {"done": what}


TOOLS = {tool.name: tool for tool in (look, save, pay, send)}


async def _tokens(ctx: runyard.Context, count: int, every_ms: float = 0) -> None:
    for n in range(count):
        if every_ms:
            await asyncio.sleep(every_ms / 1000)
        await ctx.token(f"t{n} ")


async def _step(ctx: runyard.Context, name: str) -> None:
    def work() -> str:
        notes.write("effects", "step", ctx.key(name), os.getpid())
        return name

    await ctx.step(name, work)


async def _call(ctx: runyard.Context, tool: str, gate: str = "") -> None:
    try:
        await ctx.call(TOOLS[tool], what="it", gate=gate)
    except (Rejected, UnknownOutcome) as error:
        await ctx.token(f"[{type(error).__name__}]")


async def _approve(ctx: runyard.Context, question: str) -> None:
    await ctx.token("yes" if await ctx.approve(question) else "no")


async def _wait(ctx: runyard.Context, gate: str) -> None:
    await _gate(gate)


async def _die(ctx: runyard.Context) -> None:
    notes.write("died", ctx.run_id, os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)


async def _block(ctx: runyard.Context, gate: str) -> None:
    """Stop the whole event loop, as a call of something slow and synchronous does."""
    notes.write("reached", gate, os.getpid())
    while not notes.is_open(gate):
        time.sleep(0.005)  # noqa: ASYNC251 (that is the point)


async def _ignore(ctx: runyard.Context, gate: str) -> None:
    """Swallow every cancellation until the gate opens."""
    notes.write("reached", gate, os.getpid())
    while not notes.is_open(gate):
        try:
            await asyncio.sleep(0.005)
        except asyncio.CancelledError:
            notes.write("ignored", ctx.run_id, os.getpid())


OPERATIONS: dict[str, Callable[..., Awaitable[None]]] = {
    "tokens": _tokens,
    "step": _step,
    "call": _call,
    "approve": _approve,
    "wait": _wait,
    "die": _die,
    "block": _block,
    "ignore": _ignore,
}


@runyard.agent
async def player(ctx: runyard.Context) -> None:
    program: list[list[Any]] = json.loads(ctx.message.text)
    notes.write("began", ctx.run_id, os.getpid(), time.monotonic_ns())
    try:
        for operation, *args in program:
            await OPERATIONS[operation](ctx, *args)
    finally:
        notes.write("stopped", ctx.run_id, os.getpid(), time.monotonic_ns())


second = runyard.Agent("second", fn=player.fn)
third = runyard.Agent("third", fn=player.fn)
fixed = runyard.Agent(
    "fixed",
    kind="scripted",
    script=[
        {"tool": "look", "input": {"what": "it"}, "output": {"done": "it"}},
        {"tokens": ["a", "b", "c", "d", "e"], "every_ms": 2},
    ],
)


def _turn(conversation: Conversation) -> Mapping[str, Any]:
    """The turn that it is, of those that the last message of the user holds."""
    asked = max(place for place, message in enumerate(conversation) if message["role"] == "user")
    turns = json.loads(conversation[asked]["content"])
    turn = turns[sum(message["role"] == "assistant" for message in conversation[asked:])]
    return {"text": json.dumps(conversation[:asked])} if turn == "repeat" else turn


thinker = runyard.Agent("thinker", model="scripted", turns=_turn, tools=list(TOOLS.values()), instructions="Play.")


async def _node(ctx: runyard.NodeContext) -> dict[str, str]:
    """A node of the reference plan: what it does to the world is on file, with the key that it does it under."""
    notes.write("effects", "node", ctx.key(), os.getpid())
    if ctx.node == "EnsureDevice":
        await ctx.trace("ensureDevice.check")
    return {"did": ctx.node}


async def _held(ctx: runyard.NodeContext) -> dict[str, str]:
    """The same, and then it waits at the gate of its name."""
    await _node(ctx)
    await _gate(ctx.node)
    return {"did": ctx.node}


_NODES = [runyard.Node(name, _node) for name in ("EnsureDevice", "Warmup", "OpenApp", "Ping", "Teardown")]
device = runyard.plan("device", _NODES)
held = runyard.plan("held", [*_NODES[:2], runyard.Node("OpenApp", _held), *_NODES[3:]])
careful = runyard.plan("careful", [*_NODES[:2], runyard.Node("OpenApp", _held, effects="once"), *_NODES[3:]])
