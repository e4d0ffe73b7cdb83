"""The reference plan of the plans API, on a fake device: EnsureDevice, Warmup, OpenApp, Ping, Teardown.

A run of it is exactly 13 events: the run's start and end, two for each node, and the one mark that `EnsureDevice`
leaves. The nodes are pure: what they return depends on what the nodes before them returned, and on nothing else.
"""

import asyncio
from typing import Any

from runyard.agents.declared.kinds import plan
from runyard.agents.declared.nodes import Node
from runyard.agents.plan.node_context import NodeContext

WORK_SECONDS = 0.2  # stands for what a real device would take


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
