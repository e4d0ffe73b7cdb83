"""A client of the contract face, and the agents that do its tasks."""

import asyncio
from typing import Any

import httpx2

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent, plan, scripted
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.errors import InvalidTask, ToolError
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream

GROUNDING = {
    "chunks": [{"chunk_id": "c1", "doc_id": "d1", "text": "found", "score": 1.5, "metadata": {"page": 3}}],
    "citations": ["d1"],
    "retrieval_trace": {"stages": ["full-text"], "bm25_k": 5},
}


def contract_agents(gate: Gate) -> App:
    @agent(task_type="ECHO")
    async def echo(ctx: Context) -> Output:
        """Return its inputs and labels."""
        if "missing" in ctx.inputs:
            raise InvalidTask("query", "not a name")
        gate.calls["echo"] += 1
        labels = {} if ctx.task is None else ctx.task.labels
        return Output("", outputs={"inputs": ctx.inputs, "labels": labels, "said": ctx.message.text})

    @agent(task_type="GROUNDED")
    async def grounded(ctx: Context) -> Output:
        """Return a result with every part of an envelope."""
        found = {"count": 1, "grounding": GROUNDING, "artifacts": ["s3://a"], "warnings": ["OLD_INDEX"]}
        return Output("the answer", sources=["d1"], outputs=found)

    @agent
    async def misshapen(ctx: Context) -> Output:
        return Output("", outputs={"grounding": "none", "warnings": 3, "artifacts": [1]})

    @agent
    async def crashes(ctx: Context) -> str:
        raise ValueError(SECRET)

    @agent
    async def explains(ctx: Context) -> str:
        raise ToolError(SECRET)

    @agent
    async def gated(ctx: Context) -> str:
        gate.runs.append(ctx.run_id)
        await ctx.step("look up", asyncio.sleep, 0)
        await gate.wait()
        return "done"

    @agent
    async def asks(ctx: Context) -> str:
        gate.calls["asks"] += 1
        return "yes" if await ctx.request_approval("May I?") else "no"

    async def find(ctx: NodeContext) -> dict[str, Any]:
        return {"query": ctx.inputs["query"]}

    async def count(ctx: NodeContext) -> int:
        return len(ctx.results["Find"]["query"])

    thinker = Agent(
        "thinker",
        model="scripted",
        turns=[
            {"text": "first ", "calls": [{"tool": "none", "input": {}}], "usage": {"output_tokens": 50}},
            {"text": "second", "usage": {"output_tokens": 1}},
        ],
    )
    chatterbox = Agent("chatterbox", model="scripted", turns=[{"text": ["word "] * 1000}])
    declared = [echo, grounded, misshapen, crashes, explains, gated, asks, thinker, chatterbox]
    declared.append(plan("pipeline", [Node("Find", find), Node("Count", count)]))
    declared.append(scripted("happy", [{"tokens": ["a ", "b"]}, {"tool": "t", "output": 1}]))
    return App({one.name: one for one in declared}, {}, "happy")


def task_request(task_type: str = "ECHO", **more: Any) -> dict[str, Any]:
    return {"request_id": "req-1", "task_type": task_type, **more}


async def sync(server: Server, body: dict[str, Any], status: int = 200, **headers: str) -> dict[str, Any]:
    answer = await server.http.post("/agents/run/sync", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def post(server: Server, path: str, body: Any) -> httpx2.Response:
    return await server.http.post(path, json=body)


async def stream(server: Server, body: dict[str, Any], **headers: str) -> RawStream:
    """Read a whole stream, from `started` to its terminal event."""
    found = await opened(server, body, **headers)
    await found.to_end()
    return found


async def opened(server: Server, body: dict[str, Any], **headers: str) -> RawStream:
    return await RawStream.open(server.port, "/agents/run/stream", headers, body=body)
