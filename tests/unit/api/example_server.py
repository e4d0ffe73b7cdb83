"""A server for the examples of `runyard.Client`, and the objects on it that the examples name.

An example is typed into `python -m asyncio`: it has a `client`, a thread with a run that has ended (`thread_id`,
`run_id`), and the objects of `MAKERS` that it names.
"""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import structlog

import runyard
from runyard.app.process import Process
from runyard.base.ids import new_id
from runyard.testing import MemoryStore
from tests.agents.contract.app_in_thread import app_on_a_port

SERVER = "http://127.0.0.1:8000"
REMOTE = 'url="https://archive.example.org"'

locate = runyard.client_tool("locate", "Return the user's position.", answer={"type": "string"})


@runyard.tool(approval="always")
def refund(order: str) -> str:
    return f"refunded {order}"


@runyard.agent
async def greeter(ctx: runyard.Context) -> str:
    return f"Hello {ctx.message.text}"


@runyard.agent
async def support(ctx: runyard.Context) -> str:
    return await ctx.call(refund, order=ctx.message.text)


@runyard.agent
async def airline(ctx: runyard.Context) -> str:
    return f"Row {await ctx.ask('Which row?', int)}"


@runyard.agent
async def guide(ctx: runyard.Context) -> str:
    return str(await ctx.call(locate))


@runyard.agent(task_type="SEARCH")
async def archive(ctx: runyard.Context) -> runyard.Output:
    return runyard.Output(outputs={"title": f"About {ctx.inputs['query']}"})


helper = runyard.Agent("helper", model="scripted", turns=[{"text": "Hello."}])
AGENTS = (greeter, support, airline, guide, archive, helper)


@contextmanager
def without_log_lines() -> Iterator[None]:
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(wrapper_class=before)


@contextmanager
def example_server(folder: Path) -> Iterator[str]:
    """Serve the agents above on a free port, without keys."""
    url = f"sqlite:///{folder}/unused.db"
    settings = runyard.Settings(
        database_url=url, workspaces=folder / "workspaces", drain_seconds=0, agent_models="openai/gpt-5-mini"
    )
    app = runyard.App({agent.name: agent for agent in AGENTS}, default="greeter")

    def served() -> Any:
        return runyard.create_app(settings, process=Process(settings, app, store=MemoryStore()), keys=False)

    with without_log_lines(), app_on_a_port(served) as address:
        yield address


@asynccontextmanager
async def objects_of_an_example(address: str, example: str) -> AsyncIterator[dict[str, Any]]:
    """The names that an example of the client may use. Runs and channels that it leaves are canceled and deleted."""
    async with runyard.Client(address) as client:
        thread_id = await client.create_thread("greeter")
        run_id = await client.post(thread_id, "Ada")
        assert [event.type async for event in client.follow(run_id)][-1] == "run.finished"
        objects = {"client": client, "thread_id": thread_id, "run_id": run_id}
        for name, make in MAKERS.items():
            if re.search(rf"\b{re.escape(name)}\b", example):
                objects[name] = await make(client)
        yield objects
        async for run in client.runs():
            if not run.has_ended:
                await client.cancel(run.run_id)
        for places in (client.channels(), client.dms()):
            async for place in places:
                await client.delete_channel(place)


async def _wait_of(client: runyard.Client, agent: str) -> str:
    """Return the wait of a run that an agent starts."""
    run_id = await client.post(await client.create_thread(agent), "A-17")
    async for event in client.follow(run_id):
        if event.type == "run.waiting":
            return await anext(wait.wait_id async for wait in client.waits(run_id))
    raise AssertionError("the run ended without a wait")


async def _channel(client: runyard.Client) -> None:
    made = await _send(client, "POST", "/api/channels", {"name": "orders"})
    await _send(client, "POST", "/api/messages", {"channelId": made["id"], "text": "A-17 is paid."})


async def _agent(client: runyard.Client) -> str:
    made = await _send(client, "POST", "/api/agents", {"id": f"clerk-{new_id()}", "modelId": "openai/gpt-5-mini"})
    memory = f"/api/agents/{made['id']}"
    await _send(client, "PUT", f"{memory}/memory/customer", {"content": "Ada"})
    await _send(client, "POST", f"{memory}/passages", {"content": "Ada likes tea."})
    return str(made["id"])


async def _send(client: runyard.Client, method: str, path: str, body: dict[str, Any]) -> Any:
    return msgspec.json.decode(await client._connection.send(method, path, body))


MAKERS: dict[str, Callable[[runyard.Client], Awaitable[Any]]] = {
    "client.approvals": lambda client: _wait_of(client, "support"),
    "approval_id": lambda client: _wait_of(client, "support"),
    "client.waits": lambda client: _wait_of(client, "airline"),
    "wait_id": lambda client: _wait_of(client, "airline"),
    "tool_wait_id": lambda client: _wait_of(client, "guide"),
    "client.channels": _channel,
    "client.unread": _channel,
    "client.dms": lambda client: _send(client, "POST", "/api/dms", {"agentId": "helper"}),
    "agent_id": _agent,
}
