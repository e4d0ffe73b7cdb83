"""A plan: five nodes on a fake device, one after another. `runyard dev examples/device_plan.py`, then

    curl -s localhost:8000/agents/runs -H 'Content-Type: application/json' -d '{"runId": "try-1"}'
    curl -N localhost:8000/agents/runs/try-1/stream

shows 13 events: RunStarted, NodeStarted and NodeFinished of every node, one DebugTrace, RunFinished. Kill the server in
the middle and start it again: finished nodes are not run again.
"""

import asyncio
from typing import Any

import runyard


class FakeDevice:
    """A fake phone. It remembers its answers by idempotency key, so a second request with the same key is harmless."""

    async def do(self, what: str, key: str) -> dict[str, Any]:
        await asyncio.sleep(0.5)
        return {"did": what, "key": key}


fake = FakeDevice()


async def ensure_device(ctx: runyard.NodeContext) -> dict[str, Any]:
    await ctx.trace("ensureDevice.check")
    return {"device": "fake-device-1", **await fake.do("reserve", ctx.idempotency_key())}


async def warmup(ctx: runyard.NodeContext) -> dict[str, Any]:
    return await fake.do(f"warm up {ctx.results['EnsureDevice']['device']}", ctx.idempotency_key())


async def open_app(ctx: runyard.NodeContext) -> dict[str, Any]:
    return {"app": "fake-app", **await fake.do("open", ctx.idempotency_key())}


async def ping(ctx: runyard.NodeContext) -> dict[str, Any]:
    return await fake.do(f"ping {ctx.results['OpenApp']['app']}", ctx.idempotency_key())


async def teardown(ctx: runyard.NodeContext) -> dict[str, Any]:
    return await fake.do(f"release {ctx.results['EnsureDevice']['device']}", ctx.idempotency_key())


device = runyard.plan(
    "device",
    [
        runyard.Node("EnsureDevice", ensure_device),
        runyard.Node("Warmup", warmup, timeout=5),
        runyard.Node("OpenApp", open_app),
        runyard.Node("Ping", ping),
        runyard.Node("Teardown", teardown),
    ],
)
