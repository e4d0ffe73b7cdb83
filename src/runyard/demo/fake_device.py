"""The reference plan of the plans API, on a fake device: EnsureDevice, Warmup, OpenApp, Ping, Teardown.

A run has exactly 13 events: the start and the end of the run, two events per node, and one trace event of
`EnsureDevice`. The nodes are deterministic: a result depends only on the results of earlier nodes.
"""

import asyncio
from typing import Any

from runyard.agents.declared.kinds import plan
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext

WORK_SECONDS = 0.2  # the time that a real device would need


async def ensure_device(ctx: NodeContext) -> dict[str, Any]:
    await ctx.trace("ensureDevice.check")
    await asyncio.sleep(WORK_SECONDS)
    return {"device": "fake-device-1"}


async def warmup(ctx: NodeContext) -> dict[str, Any]:
    await asyncio.sleep(WORK_SECONDS)
    return {"warm": ctx.results["EnsureDevice"]["device"]}


async def open_app(ctx: NodeContext) -> dict[str, Any]:
    await asyncio.sleep(WORK_SECONDS)
    return {"app": "fake-app", "on": ctx.results["Warmup"]["warm"]}


async def ping(ctx: NodeContext) -> dict[str, Any]:
    await asyncio.sleep(WORK_SECONDS)
    return {"pong": ctx.results["OpenApp"]["app"]}


async def teardown(ctx: NodeContext) -> dict[str, Any]:
    await asyncio.sleep(WORK_SECONDS)
    return {"released": ctx.results["EnsureDevice"]["device"]}


device = plan(
    "device",
    [
        Node("EnsureDevice", ensure_device),
        Node("Warmup", warmup, timeout=5),
        Node("OpenApp", open_app),
        Node("Ping", ping),
        Node("Teardown", teardown),
    ],
)
