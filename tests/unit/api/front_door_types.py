"""Uses of the public names, right and wrong. `test_types_at_the_front_door.py` runs mypy on this file.

mypy must report the error that a comment names, must reveal the type that a comment names, and must accept every
other line. Nothing here is executed.
"""

from collections.abc import AsyncIterator
from typing import reveal_type

from pydantic import BaseModel

import runyard
from runyard.testing import run_agent, run_agent_sync


class Invoice(BaseModel):
    total: float


def price(item: str, count: int = 1) -> float:
    return 9.5


async def fetch(url: str) -> dict[str, int]:
    return {"size": 1}


@runyard.tool
async def look_up(ctx: runyard.Context, name: str, idempotency_key: str = "") -> list[str]:
    return [name]


@runyard.tool(effects="idempotent", timeout=3)
def pay(amount: float) -> bool:
    return amount > 0


@runyard.tool
async def count_up(to: int) -> AsyncIterator[str]:
    yield str(to)


@runyard.agent
async def steps(ctx: runyard.Context) -> None:
    reveal_type(await ctx.step("price", price, "tea", count=2))  # type: float
    reveal_type(await ctx.step_once("price", price, item="tea"))  # type: float
    reveal_type(await ctx.step("fetch", fetch, "https://a"))  # type: dict[str, int]
    await ctx.step("price", price, "tea", cuont=2)  # error
    await ctx.step("price", price, 3)  # error
    await ctx.step("fetch", fetch)  # error
    await ctx.step_once("fetch", fetch, url=3)  # error
    await ctx.step("price", price, "tea", effects="once")  # error


@runyard.agent(tools=[look_up, pay])
async def calls(ctx: runyard.Context) -> runyard.Output:
    reveal_type(await ctx.call(look_up, name="tea"))  # type: list[str]
    reveal_type(await ctx.call(pay, amount=3))  # type: bool
    reveal_type(await ctx.call(pay, 3))  # type: bool
    reveal_type(await ctx.call(count_up, to=3))  # type: str
    reveal_type(await ctx.call("look_up", anything=3))  # type: Any
    reveal_type(await ctx.request_approval("May I?", cost=3))  # type: bool
    await ctx.call(look_up, nmae="tea")  # error
    await ctx.call(look_up, name=3)  # error
    await ctx.call(pay)  # error
    await ctx.call(price, item="tea")  # error
    await ctx.token(3)  # error
    await ctx.ask("Which row?", nmae=3)  # error
    return runyard.Output("done")


@runyard.agent  # error
async def wrong_answer(ctx: runyard.Context) -> int:
    return 3


async def node(ctx: runyard.NodeContext) -> str:
    return ctx.idempotency_key()


def kinds() -> None:
    runyard.tool(efects="once")  # error
    runyard.tool(effects="twice")  # error
    runyard.agent(while_waiting="never")  # error
    reveal_type(runyard.Agent("a", model="openai/gpt-5-mini", max_usd=0.5))  # type: runyard.agents.declared.agent.Agent
    reveal_type(runyard.create_app(runyard.Settings()))  # type: fastapi.applications.FastAPI
    runyard.plan("p", [runyard.Node("N", node)], max_seconds=3)
    runyard.remote("r", url="https://a", task_type="T", timeouts=runyard.Timeouts(idle=3))
    runyard.claude("c", model="claude-sonnet-5", sessions=False)
    runyard.Agent("a", model="m", answer=Invoice)
    runyard.Agent("a")  # error
    runyard.Agent("a", model="m", fn=steps)  # error
    runyard.Agent("a", model="m", kind="plan")  # error
    runyard.plan("p", [node])  # error
    runyard.plan("p", [runyard.Node("N", node)], tools=[])  # error
    runyard.remote("r", url="https://a")  # error
    runyard.claude("c", model="m", turns=[])  # error
    runyard.Agents("a")  # error


async def tests() -> None:
    result = await run_agent(calls, "hello", decisions={"pay": True})
    reveal_type(result.text)  # type: str
    reveal_type(run_agent_sync(steps, "hello").status)  # type: Literal['done'] | Literal['error'] | Literal['canceled']
    reveal_type(result.answer_as(Invoice))  # type: tests.unit.api.front_door_types.Invoice
    result.answer_as(Invoice).total = "1"  # error
    await run_agent(calls, "hello", decision={"pay": True})  # error
    await run_agent("calls", "hello")  # error


async def clients(client: runyard.Client) -> None:
    reveal_type(await client.answer("t", "hello"))  # type: str
    reveal_type(await client.answer("t", "hello", as_type=Invoice))  # type: tests.unit.api.front_door_types.Invoice
    await client.answer("t", "hello", as_type={"type": "object"})  # error
