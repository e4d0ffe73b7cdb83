"""Plans of three nodes, and readers of their runs, for tests of plan agents."""

from collections.abc import Awaitable, Callable
from typing import Any

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import plan
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from tests.agents.fake_execution import FakeExecution

SECRET = "secret content"


def plan_of(*fns: Callable[[NodeContext], Awaitable[Any]], **options: Any) -> Agent:
    """Return a plan with one node per function, named after it."""
    return plan("p", [Node(fn.__name__, fn, **options) for fn in fns])


async def one(ctx: NodeContext) -> dict[str, Any]:
    await ctx.trace("one.check")
    return {"found": 1}


async def two(ctx: NodeContext) -> list[Any]:
    return ["two", ctx.results["one"]["found"]]


async def three(ctx: NodeContext) -> None:
    await ctx.trace("three.first")
    await ctx.trace("three.second")


def event_lines(execution: FakeExecution) -> list[str]:
    return [f"{event.type} {event.name or event.fn}" for event in execution.new_events]


def step_results(execution: FakeExecution) -> dict[str, Any]:
    return {step.name: step.result for step in execution.fold().steps if step.finished}
