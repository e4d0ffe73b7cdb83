"""A client of the chats face, and the agents that answer it."""

import re
from collections.abc import Mapping
from typing import Any

import httpx2

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.agents.tools.tool import Tool, tool
from runyard.errors import Rejected, ToolFailed
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(rf"(int|approval)_{UUID}".encode())
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def chat_agents(gate: Gate) -> App:
    @tool
    async def echo(text: str) -> str:
        return text

    @tool
    async def stumble() -> str:
        raise ValueError(SECRET)

    @tool(approval="always", effects="once")
    async def execute_code(code: str) -> dict[str, Any]:
        gate.calls["executed"] += 1
        return {"output": code}

    @agent(tools=[echo])
    async def assistant(ctx: Context) -> str:
        """The standard flow of S1: it thinks, looks something up, thinks, answers."""
        await ctx.thinking("Let me look that up.")
        found = await ctx.call("echo", text=ctx.message.text)
        await ctx.thinking("That is all I need.")
        return f"Found: {found}"

    @agent(tools=[execute_code])
    async def coder(ctx: Context) -> str:
        """Runs code, which a person must allow."""
        await ctx.thinking("This needs some code.")
        try:
            done = await ctx.call("execute_code", code="print(1)")
        except Rejected as refused:
            return f"Not done: {refused.reason}"
        return f"Done: {done['output']}"

    @agent
    async def gated(ctx: Context) -> str:
        """Thinks, and waits at the gate."""
        gate.calls["gated"] += 1
        await ctx.thinking("Give me a moment.")
        await gate.wait()
        return "Here I am."

    @agent(tools=[stumble])
    async def clumsy(ctx: Context) -> str:
        """Has a tool that fails, and says so."""
        try:
            await ctx.call("stumble")
        except ToolFailed as failed:
            return f"It failed with {failed.error}."
        return "It worked."

    @agent
    async def broken(ctx: Context) -> str:
        await ctx.thinking("Oh no.")
        raise ValueError(SECRET)

    @agent
    async def fickle(ctx: Context) -> str:
        """Fails the first time."""
        gate.calls["fickle"] += 1
        if gate.calls["fickle"] == 1:
            raise ValueError(SECRET)
        return "This time it worked."

    @agent
    async def rememberer(ctx: Context) -> str:
        """Repeats the earlier messages."""
        return " | ".join([message.text for message in await ctx.history(50)]) or "nothing"

    @agent
    async def asker(ctx: Context) -> str:
        """A question to a person that is about no tool."""
        return "yes" if await ctx.request_approval("May I?", amount=3) else "no"

    declared = [assistant, coder, gated, clumsy, broken, fickle, rememberer, asker, *_models(echo)]
    return App({one.name: one for one in declared}, {}, "assistant")


def _models(echo: Tool[..., Any]) -> list[Agent]:
    """Agents with a model: one that answers, and three that a limit stops."""
    calls = [{"tool": "echo", "input": {"text": "x"}}]
    ponders: list[dict[str, Any]] = [
        {"thinking": ["I must ", "look."], "text": ["Let me ", "look."], "calls": calls},
        {"thinking": "Now I know.", "text": ["It is ", "x."]},
    ]
    dear: list[dict[str, Any]] = [
        {"calls": calls, "usage": {"output_tokens": 60, "usd": 0.06}},
        {"text": "It is x.", "usage": {"output_tokens": 60, "usd": 0.06}},
    ]
    return [
        Agent("ponderer", model="scripted", turns=ponders, tools=[echo]),
        Agent("tireless", model="scripted", turns=lambda _: ponders[0], tools=[echo], max_turns=1),
        Agent("costly", model="scripted", turns=dear, tools=[echo], max_usd=0.05),
        Agent("wordy", model="scripted", turns=dear, tools=[echo], max_output_tokens=50),
    ]


class Chat:
    """One chat of one client."""

    def __init__(self, server: Server, chat_id: str = "chat_123") -> None:
        self.server = server
        self.id = chat_id

    @property
    def path(self) -> str:
        return f"/chats/{self.id}"

    async def open(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> RawStream:
        stream = await RawStream.open(self.server.port, self.path + path, headers or {}, body=body)
        assert stream.status == 200, await _body_of(stream)
        return stream

    async def start(
        self, text: str = "hello", agent: str | None = None, headers: Mapping[str, str] | None = None
    ) -> RawStream:
        """Post a message; returns the stream after its first event, which has the id of the interaction."""
        body = {"user_message": text} | ({"agent": agent} if agent else {})
        stream = await self.open("/interactions", body, headers)
        await stream.first_frame()
        return stream

    async def say(self, text: str = "hello", agent: str | None = None) -> RawStream:
        """Say something, and read to the end."""
        stream = await self.start(text, agent)
        await stream.to_end()
        assert stream.ended_cleanly
        return stream

    async def edit(self, interaction: str, text: str, **more: Any) -> RawStream:
        stream = await self.open(f"/interactions/{interaction}/edit", {"new_user_message": text, **more})
        await stream.to_end()
        assert stream.ended_cleanly
        return stream

    async def start_waiting(self, text: str = "run it") -> tuple[RawStream, str]:
        """An interaction of `coder` that waits, and its approval."""
        stream = await self.start(text, "coder")
        await stream.frames_to("approval_required")
        interaction = interaction_of(stream)
        await self.server.waiting(interaction.removeprefix("int_"))
        return stream, str(stream.wire[-1][1]["approval_id"])

    async def approve(self, interaction: str, approval_id: str, approved: bool, **more: Any) -> httpx2.Response:
        body = {"approval_id": approval_id, "approved": approved, **more}
        return await self.server.http.post(f"{self.path}/interactions/{interaction}/approve", json=body)

    async def cancel(self, interaction: str) -> httpx2.Response:
        return await self.server.http.post(f"{self.path}/interactions/{interaction}/cancel")

    async def look(self, interaction: str) -> dict[str, Any]:
        answer = await self.server.http.get(
            f"{self.path}/interactions/{interaction}", headers={"accept": "application/json"}
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def whole(self, **query: Any) -> dict[str, Any]:
        answer = await self.server.http.get(self.path, params=query)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


async def _body_of(stream: RawStream) -> str:
    await stream.to_end()
    return bytes(stream.body).decode()


def interaction_of(stream: RawStream) -> str:
    return str(stream.wire[0][1]["interaction_id"])


def answer_of(stream: RawStream) -> str:
    [answer] = [data["content"] for event, data in stream.wire if event == "answer"]
    return str(answer)


def without_ids(body: bytes) -> bytes:
    """The bytes with int_1, approval_1, int_2 ... and TIME in the places of ids and times."""
    names: dict[bytes, bytes] = {}

    def name(found: re.Match[bytes]) -> bytes:
        count = sum(each.startswith(found[1]) for each in names) + 1
        return names.setdefault(found[0], b"%b_%d" % (found[1], count))

    return _TIME.sub(b"TIME", _ID.sub(name, body))
