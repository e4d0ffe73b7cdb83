"""An agent of a framework that Runyard does not know: `runyard dev examples/own_framework.py`, then ask for a refund.

`TinyAgent` stands for the framework. `bring` records its effects in the log (docs/frameworks/your-own.md).
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import runyard

Message = dict[str, Any]
Say = Callable[[str], Awaitable[None]]


class TinyAgent:
    """A framework with its own loop: ask the model, call its tools, repeat until it has no more calls."""

    def __init__(self, model: Callable[[list[Message]], Awaitable[Message]], tools: Mapping[str, Any]) -> None:
        self.model, self.tools = model, tools

    async def run(self, messages: list[Message]) -> str:
        while True:
            messages.append(await self.model(messages))
            if not messages[-1]["calls"]:
                return str(messages[-1]["content"])
            for call in messages[-1]["calls"]:
                result = await self.tools[call["name"]](**call["input"])
                messages.append({"role": "tool", "name": call["name"], "content": result})


def bring(name: str, model: Callable[[list[Message], Say], Awaitable[Message]], tools: Sequence[Any]) -> runyard.Agent:
    @runyard.agent(name=name, tools=tools)
    async def run(ctx: runyard.Context) -> runyard.Output:
        async def recorded_model(messages: list[Message]) -> Message:
            async def ask() -> Message:
                return await model(messages, ctx.token)  # the text is streamed while it arrives

            return await ctx.step("think", ask)  # recorded: after a crash the model is not asked again

        def recorded(tool: runyard.Tool[..., Any]) -> Callable[..., Awaitable[Any]]:
            async def call(**given: Any) -> Any:
                try:
                    return await ctx.call(tool, **given)  # recorded; waits for a person if the tool needs an approval
                except runyard.Rejected as error:
                    return f"A person said no. {error.reason or ''}"
                except (runyard.ToolFailed, runyard.UnknownOutcome) as error:
                    return f"Error: {error.message}"

            return call

        messages = [{"role": each.role, "content": each.text, "calls": []} for each in await ctx.history()]
        messages.append({"role": "user", "content": ctx.message.text})
        agent = TinyAgent(recorded_model, {tool.name: recorded(tool) for tool in tools})
        return runyard.Output(outputs={"answer": await agent.run(messages)})

    return run


@runyard.tool(effects="none")
async def find_order(order: str) -> dict[str, Any]:
    """Find an order."""
    return {"order": order, "amount": 9.5}


@runyard.tool(effects="once", approval="always")
async def refund(order: str, amount: float) -> str:
    """Pay an order back."""
    return f"paid back {amount}"


async def model(messages: list[Message], say: Say) -> Message:
    """A model without a key: it finds the order, refunds it and tells the result."""
    results = [message["content"] for message in messages if message["role"] == "tool"]
    found = re.search(r"[A-Z]-\d+", messages[-1 - 2 * len(results)]["content"])
    order = found[0] if found else "A-1"
    if not results:
        return {"role": "assistant", "content": "", "calls": [{"name": "find_order", "input": {"order": order}}]}
    if len(results) == 1:
        await say("One moment. ")
        return {"role": "assistant", "content": "One moment. ", "calls": [{"name": "refund", "input": results[0]}]}
    await say(f"Order {order}: {results[1]}.")
    return {"role": "assistant", "content": f"Order {order}: {results[1]}.", "calls": []}


support = bring("support", model, [find_order, refund])
