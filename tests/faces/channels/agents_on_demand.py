"""Agents whose work each test defines, and a client of the channels face."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.domain.runs.run import Run
from runyard.store import PostedMessage
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream

Deed = Callable[[Context], Awaitable[str | None]]
NAMES = ("kevin", "oscar", "angela", "pam")


class ChannelServer:
    """The functions that agents run, and a record of what they did. An agent without a function says nothing."""

    def __init__(self) -> None:
        self.deeds: dict[str, Deed] = {}
        self.begun: list[tuple[str, str]] = []
        self.at_work: set[str] = set()
        self.most_at_once: dict[str, int] = {}
        self.server: Server | None = None

    def app(self) -> App:
        agents = {name: agent(name=name, instructions=f"You are {name}.")(self._agent(name)) for name in NAMES}
        return App(agents, {}, "kevin")

    def _agent(self, name: str) -> Deed:
        async def work(ctx: Context) -> str | None:
            self.begun.append((name, ctx.message.text))
            assert name not in self.at_work, f"{name} does two things at a time"
            self.at_work.add(name)
            try:
                return await self.deeds.get(name, _nothing)(ctx)
            finally:
                self.at_work.discard(name)

        return work

    @property
    def http(self) -> Any:
        assert self.server is not None
        return self.server.http

    async def channel(self, *agents: str, **more: Any) -> str:
        body = {"name": more.pop("name", f"c{len(self.begun)}-{id(object())}"), "agents": list(agents), **more}
        answer = await self.http.post("/api/channels", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def dm(self, agent: str, other: str | None = None) -> str:
        answer = await self.http.post("/api/dms", json={"agentId": agent, "otherAgentId": other})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def say(self, channel: str, text: str = "hello", **more: Any) -> dict[str, Any]:
        answer = await self.http.post("/api/messages", json={"channelId": channel, "text": text, **more})
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def tell(self, dm: str, text: str = "hello") -> dict[str, Any]:
        answer = await self.http.post("/api/messages", json={"dmConversationId": dm, "text": text})
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def speak(self, ctx: Context, conversation: str, text: str, call: str = "call_1") -> PostedMessage:
        """The action of the tool `send_message`."""
        assert self.server is not None
        run: Run = await self.server.store.get_run("local", ctx.run_id)
        return await self.server.process.engine.conversations.post_as_agent(run, conversation, text, call)

    async def watch(self, after: int | None = None, **headers: str) -> RawStream:
        assert self.server is not None
        given = {} if after is None else {"last-event-id": str(after)}
        return await self.server.stream("/api/sse", {**given, **headers})


async def _nothing(ctx: Context) -> None:
    await asyncio.sleep(0)


async def done(stream: RawStream, count: int) -> list[tuple[str, str]]:
    """Read until so many agents are done; who began and ended, in order."""
    await stream.until(lambda: stream.events.count("agent_done") >= count)
    return [(name, data["agentId"]) for name, data in stream.wire if name in ("agent_typing", "agent_done")]
