"""A first agent: `runyard dev examples/greeter.py`, then say hello to it.

The step is recorded: if the process dies while it writes the greeting, the restarted process continues without a second
look-up.
"""

import asyncio
from collections.abc import AsyncIterator

import runyard


async def look_up(text: str) -> dict[str, str]:
    """Look up a guest. Stands for anything slow or costly: a database, an API, a model."""
    await asyncio.sleep(0.3)
    name = text.strip().rstrip(".!?").rpartition(" ")[2] or "stranger"
    return {"name": name, "source": "guestbook_001"}


async def write(facts: dict[str, str]) -> AsyncIterator[str]:
    for word in f"Hello, {facts['name']}! How good that you are here.".split(" "):
        await asyncio.sleep(0.05)
        yield word + " "


@runyard.agent
async def greeter(ctx: runyard.Context) -> runyard.Output:
    facts = await ctx.step("look up", look_up, ctx.message.text)
    text = ""
    async for word in write(facts):
        text += word
        await ctx.token(word)
    return runyard.Output(text=text, sources=[facts["source"]])
