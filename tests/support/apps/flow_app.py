"""The app of the flow tests. One agent, `player`, plays the program that its message holds: a JSON list of operations.
Another, `thinker`, has a scripted model whose turns its message holds; a turn `"repeat"` answers with its input.

What it does to the world goes to append-only files in the test's folder; where it waits, a test holds the gate: the
agent says in `reached` that it is there, and continues when the file `open/<gate>` (or `open/<gate>.<pid>`) exists.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import runyard
from runyard.errors import Rejected, UnknownOutcome
from runyard.models.model import Conversation
from tests.support.apps import waiting_operations
from tests.support.scenario.facts_and_gates import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))


async def _gate(name: str) -> None:
    notes.write("reached", name, os.getpid())
    while not notes.is_open(name):  # noqa: ASYNC110 (the gate is a file)
        await asyncio.sleep(0.005)


@runyard.tool(effects="none")
async def look(what: str, idempotency_key: str = "", gate: str = "") -> dict[str, str]:
    return await _act("look", what, idempotency_key, gate)


@runyard.tool(effects="idempotent")
async def save(what: str, idempotency_key: str = "", gate: str = "") -> dict[str, str]:
    return await _act("save", what, idempotency_key, gate)


@runyard.tool(effects="once")
async def pay(what: str, idempotency_key: str = "", gate: str = "") -> dict[str, str]:
    return await _act("pay", what, idempotency_key, gate)


@runyard.tool(effects="once", approval="always")
async def send(what: str, idempotency_key: str = "", gate: str = "") -> dict[str, str]:
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
        notes.write("effects", "step", ctx.idempotency_key(name), os.getpid())
        return name

    await ctx.step(name, work)


async def _call(ctx: runyard.Context, tool: str, gate: str = "") -> None:
    try:
        await ctx.call(TOOLS[tool], what="it", gate=gate)
    except (Rejected, UnknownOutcome) as error:
        await ctx.token(f"[{type(error).__name__}]")


async def _approve(ctx: runyard.Context, question: str) -> None:
    await ctx.token("yes" if await ctx.request_approval(question) else "no")


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


def _spin() -> None:
    while True:
        pass


def _spin_whatever_happens() -> None:
    while True:
        try:
            _spin()
        except BaseException:
            notes.write("caught", os.getpid())


def _wait_for_bytes() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.recv(1)


# Ways to block the event loop. The last two are code in C: one lets other threads run, one does not.
BLOCKS: dict[str, Callable[[], object]] = {
    "loop": _spin,
    "sleep": lambda: time.sleep(3600),
    "socket": _wait_for_bytes,
    "catch": _spin_whatever_happens,
    "native": lambda: hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1),
    "native-alone": lambda: sum(range(10**13)),
}


async def _hang(ctx: runyard.Context, how: str) -> None:
    """Block the event loop until something ends it."""
    notes.write("hung", how, os.getpid())
    try:
        BLOCKS[how]()
    except Exception:
        notes.write("caught", os.getpid())


async def _hang_in_a_step(ctx: runyard.Context, how: str) -> None:
    async def work() -> None:
        await _hang(ctx, how)

    await ctx.step("hang", work)


async def _hang_in_a_child(ctx: runyard.Context, how: str) -> None:
    """In a task that the agent does not wait for."""
    task = asyncio.create_task(_hang(ctx, how))
    await asyncio.sleep(3600)
    await task


async def _leave(ctx: runyard.Context, how: str, where: str) -> None:
    """Raise something that would end the event loop: in the agent, in a child or in a task group."""

    async def leave() -> None:
        notes.write("left", how, os.getpid())
        match how:
            case "exit":
                sys.exit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case _:
                raise Unheard

    match where:
        case "here":
            await leave()
        case "child":
            task = asyncio.create_task(leave())
            await asyncio.sleep(3600)
            await task
        case "awaited":
            with suppress(Exception):
                await asyncio.create_task(leave())
        case "group":
            async with asyncio.TaskGroup() as group:
                group.create_task(leave())
        case "step":
            await ctx.step("leave", leave)
        case _:
            asyncio.get_running_loop().call_soon(_exit)
            await asyncio.sleep(0.01)


class Unheard(BaseException):
    """Not an Exception."""


def _exit() -> None:
    raise SystemExit(3)


async def _history(ctx: runyard.Context) -> None:
    """Read the conversation so far from the database."""
    await ctx.token(f"{len(await ctx.history())} messages ")


async def _messages(ctx: runyard.Context) -> None:
    """Read the messages that came meanwhile."""
    for message in await ctx.new_messages():
        await ctx.token(f"<{message.text}>")


OPERATIONS: dict[str, Callable[..., Awaitable[None]]] = {
    "tokens": _tokens,
    "step": _step,
    "call": _call,
    "approve": _approve,
    "ask": waiting_operations.ask,
    "client": waiting_operations.client,
    "children": waiting_operations.children,
    "sleep": waiting_operations.sleep,
    "event": waiting_operations.event,
    "wait": _wait,
    "die": _die,
    "block": _block,
    "ignore": _ignore,
    "hang": _hang,
    "hang-in-a-step": _hang_in_a_step,
    "hang-in-a-child": _hang_in_a_child,
    "leave": _leave,
    "history": _history,
    "messages": _messages,
}


async def _play(ctx: runyard.Context) -> None:
    program: list[list[Any]] = json.loads(ctx.message.text)
    notes.write("began", ctx.run_id, os.getpid(), time.monotonic_ns())
    try:
        for operation, *args in program:
            await OPERATIONS[operation](ctx, *args)
    finally:
        notes.write("stopped", ctx.run_id, os.getpid(), time.monotonic_ns())


player = runyard.agent(name="player")(_play)
second = runyard.agent(name="second")(_play)
third = runyard.agent(name="third")(_play)
fixed = runyard.scripted(
    "fixed",
    [
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


def _answer_all(conversation: Conversation) -> Mapping[str, Any]:
    """Look twice, then answer every message that came since the last answer."""
    open_from = 1 + max(
        (
            place
            for place, each in enumerate(conversation)
            if each["role"] == "assistant" and not each.get("tool_calls")
        ),
        default=-1,
    )
    since = conversation[open_from:]
    looks = sum(message["role"] == "assistant" for message in since)
    if looks < 2:
        return {"text": "Looking.", "calls": [{"tool": "look", "input": {"what": "it"}}]}
    asked = [message["content"] for message in since if message["role"] == "user"]
    return {"text": [f"<{text}>" for text in asked]}


steerable = runyard.Agent(
    "steerable", model="scripted", turns=_answer_all, tools=[look], instructions="Answer.", max_turns=100
)
thinker = runyard.Agent("thinker", model="scripted", turns=_turn, tools=list(TOOLS.values()), instructions="Play.")


async def _node(ctx: runyard.NodeContext) -> dict[str, str]:
    """A node of the reference plan: what it does to the world is on file, with the key that it does it under."""
    notes.write("effects", "node", ctx.idempotency_key(), os.getpid())
    if ctx.node == "EnsureDevice":
        await ctx.trace("ensureDevice.check")
    return {"did": ctx.node}


async def _node_at_gate(ctx: runyard.NodeContext) -> dict[str, str]:
    """The same, and then it waits at the gate of its name."""
    await _node(ctx)
    await _gate(ctx.node)
    return {"did": ctx.node}


_NODES = [runyard.Node(name, _node) for name in ("EnsureDevice", "Warmup", "OpenApp", "Ping", "Teardown")]
device = runyard.plan("device", _NODES)
held = runyard.plan("held", [*_NODES[:2], runyard.Node("OpenApp", _node_at_gate), *_NODES[3:]])
careful = runyard.plan("careful", [*_NODES[:2], runyard.Node("OpenApp", _node_at_gate, effects="once"), *_NODES[3:]])


async def _slow(ctx: runyard.NodeContext) -> None:
    notes.write("hung", "node", os.getpid())
    BLOCKS["sleep"]()


blocking = runyard.plan("blocking", [runyard.Node("Blocks", _slow, timeout=0.6), *_NODES[:1]])
