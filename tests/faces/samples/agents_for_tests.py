"""The agents that the face tests talk to: scripted ones, whose every byte is known, python ones and plans that a test
holds at a gate."""

import asyncio
import threading
from collections import Counter
from typing import Any

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent, plan, scripted
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.tools.tool import tool
from runyard.agents.tools.waiting_tools import client_tool

SECRET = "the secret of the agent"
SEAT: dict[str, Any] = {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]}

HAPPY: list[dict[str, Any]] = [
    {"tool": "rag.search", "input": {"query": "who knows Rust?"}, "output": {"sources": ["cv_001"], "chunks": 2}},
    {"tokens": ["Ada ", "knows ", "Rüst \u2028 🦀\n"]},
    {"output": {"sources": ["cv_001", "cv_007"]}},
]
FAILS: list[dict[str, Any]] = [{"token": "I will "}, {"fail": "broken", "message": "The script broke."}]
EVERYTHING: list[dict[str, Any]] = [
    {"trace": "start"},
    {"thinking": "hm"},
    {"tool": "list", "output": [1, 2]},
    {"tool": "text", "output": "plain"},
    {"tool": "nothing"},
    {"token": "a"},
    {"token": "b"},
]


class Gate:
    """Gates and notes that a test shares with an agent in the same process."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self.thread_open = threading.Event()
        self.calls: Counter[str] = Counter()
        self.runs: list[str] = []
        self.stopped: list[str] = []

    async def wait(self) -> None:
        self.reached.set()
        await self.open.wait()

    async def until_reached(self) -> None:
        async with asyncio.timeout(20):
            await self.reached.wait()


@agent(tools=[client_tool("where", "Return the position of the user.")])
async def books(ctx: Context) -> str:
    """Asks a person for a seat, and the client for a position."""
    seat = await ctx.ask(f"Which seat? {ctx.message.text}", SEAT)
    place = await ctx.call("where", why=ctx.message.text)
    return f"{seat['row']} {place}"


_versions: dict[str, str] = {}  # by the agent's name


def _with_versions(made: dict[str, Agent]) -> dict[str, Agent]:
    """Give the agents their versions. A version is made of the agent's source, which is equal in every test; to find it
    takes a third of the time of starting a server."""
    for name, one in made.items():
        if name not in _versions:
            _versions[name] = one.version
        vars(one)["version"] = _versions[name]
    return made


def agents(gate: Gate) -> App:
    @agent
    async def gated(ctx: Context) -> str:
        """Writes, waits at the gate, writes again."""
        gate.calls["gated"] += 1
        gate.runs.append(ctx.run_id)
        await ctx.token("before ")
        try:
            await gate.wait()
        except asyncio.CancelledError:
            gate.stopped.append(ctx.run_id)
            raise
        await ctx.token("after")
        return ctx.written()

    @agent
    async def silent(ctx: Context) -> str:
        """Waits at the gate and writes nothing before."""
        gate.calls["silent"] += 1
        await gate.wait()
        return "done"

    @agent
    async def endless(ctx: Context) -> str:
        """Writes token after token until it is stopped."""
        while True:
            gate.calls["tokens"] += 1
            await ctx.token("x")
            gate.reached.set()
            await asyncio.sleep(0.001)  # waits on purpose: a model that streams

    @agent
    async def steps(ctx: Context) -> str:
        """One step that counts, then the gate, then another."""
        one = await ctx.step("count", count, "one")
        await ctx.token(f"{one} ")
        await gate.wait()
        two = await ctx.step("count", count, "two")
        await ctx.token(f"{two}")
        return ctx.written()

    async def count(which: str) -> int:
        gate.calls[which] += 1
        return gate.calls[which]

    @agent
    async def long_step(ctx: Context) -> str:
        """Waits at the gate inside a step."""
        await ctx.step("wait", gate.wait)
        return "done"

    @agent
    async def long_thread(ctx: Context) -> str:
        """A step in a thread that cannot be stopped."""

        def block() -> None:
            loop.call_soon_threadsafe(gate.reached.set)
            gate.thread_open.wait(20)

        loop = asyncio.get_running_loop()
        await ctx.step("block", block)
        return "done"

    @agent
    async def deaf(ctx: Context) -> str:
        """Ignores that it is to stop, until the gate opens."""
        await ctx.token("before ")
        while not gate.open.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                gate.calls["ignored"] += 1
        return "done all the same"

    @agent
    async def raises(ctx: Context) -> str:
        await ctx.token("before ")
        raise ValueError(SECRET)

    @agent
    async def asks(ctx: Context) -> str:
        """Asks a person."""
        await ctx.token("may I? ")
        yes = await ctx.request_approval("May I?", amount=3)
        await ctx.token("yes" if yes else "no")
        return ctx.written()

    @tool(approval="always", effects="once")
    async def send_mail(to: str, text: str = "") -> dict[str, Any]:
        gate.calls["mails"] += 1
        return {"sent": to, "text": text}

    @agent(tools=[send_mail])
    async def mails(ctx: Context) -> Output:
        """Sends a mail, which a person must allow."""
        sent = await ctx.call("send_mail", to="ann", text="hi")
        return Output(f"sent to {sent['sent']}")

    @agent
    async def whole(ctx: Context) -> Output:
        """The whole answer at once, from nowhere."""
        return Output("all of it")

    @agent
    async def deep(ctx: Context) -> str:
        """Asks a question with a thousand levels in it."""
        nested: Any = "bottom"
        for _ in range(300):
            nested = [nested]
        return "yes" if await ctx.request_approval("deep?", nested=nested) else "no"

    python = [gated, silent, endless, steps, long_step, long_thread, deaf, raises, asks, books, mails, whole, deep]
    scripts = {
        "happy": HAPPY,
        "fails": FAILS,
        "everything": EVERYTHING,
        "flood": [{"tokens": [f"{n:04d} " for n in range(2000)]}],
    }
    declared = [*python, *plans(gate)]
    named = {name: scripted(name, script) for name, script in scripts.items()}
    return App(_with_versions({**named, **{one.name: one for one in declared}}), {}, "happy")


NODES = ["EnsureDevice", "Warmup", "OpenApp", "Ping", "Teardown"]


def plans(gate: Gate) -> list[Agent]:
    async def work(ctx: NodeContext) -> dict[str, Any]:
        """Leaves the mark of the reference plan, and returns content that must stay private."""
        gate.calls[f"{ctx.run_id} {ctx.node}"] += 1
        if ctx.node == "EnsureDevice":
            await ctx.trace("ensureDevice.check")
        return {"found": SECRET, "before": list(ctx.results)}

    async def wait(ctx: NodeContext) -> None:
        """Waits at the gate."""
        gate.runs.append(ctx.run_id)
        try:
            await gate.wait()
        except asyncio.CancelledError:
            gate.stopped.append(ctx.run_id)
            raise

    async def fail(ctx: NodeContext) -> None:
        raise ValueError(SECRET)

    nodes = [Node(name, work) for name in NODES]
    return [
        plan("device", nodes),
        plan("gated_plan", [*nodes[:2], Node("OpenApp", wait), *nodes[3:]]),
        plan("failing_plan", [nodes[0], Node("Warmup", fail), *nodes[2:]]),
        plan("slow_plan", [nodes[0], Node("Warmup", wait, timeout=0.05), *nodes[2:]]),
    ]
