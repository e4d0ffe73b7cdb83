"""The measured agents, written as a user would write them. A message says how many tokens to write. A token is
`t<number> `, or `t<number> <when> ` if its latency is measured: the monotonic clock in nanoseconds, which all processes
of a machine share. It is the time at which the token was made; for `conversing`, which keeps a pace, the time at which
it was due.
"""

import asyncio
from time import monotonic_ns

import runyard
from bench.rivals.pace import due_tokens, timed_token

TEXTS = [f"t{n} " for n in range(100_000)]
PACE = 0.01  # seconds between two tokens
WIDE = "a" * 780  # as a time it is zero


@runyard.agent
async def tokens(ctx: runyard.Context) -> None:
    """Write tokens as fast as possible."""
    for text in TEXTS[: int(ctx.message.text)]:
        await ctx.token(text)


@runyard.agent
async def counting(ctx: runyard.Context) -> None:
    """Write more tokens than are prepared."""
    for n in range(int(ctx.message.text)):
        await ctx.token(f"t{n} ")


@runyard.agent
async def widely(ctx: runyard.Context) -> None:
    """Write tokens that are so long that 10,000 of them are as much text as a million of `counting`."""
    for n in range(int(ctx.message.text)):
        await ctx.token(f"t{n} {WIDE} ")


@runyard.agent
async def answering(ctx: runyard.Context) -> str:
    """Answer with a sentence."""
    return "Your order is on its way."


thinking = runyard.Agent("thinking", model="scripted", turns=[{"text": "Your order is on its way."}])


@runyard.agent
async def paced(ctx: runyard.Context) -> None:
    """Write tokens as a model does: a token, then a pause."""
    for n in range(int(ctx.message.text)):
        await ctx.token(timed_token(n, monotonic_ns()))
        await asyncio.sleep(PACE)


@runyard.agent
async def conversing(ctx: runyard.Context) -> None:
    """Write 50 tokens a second, each at its time."""
    async for token in due_tokens(int(ctx.message.text)):
        await ctx.token(token)


@runyard.agent
async def noop(ctx: runyard.Context) -> None:
    """Do nothing: an empty run shows the cost of the run itself."""


@runyard.agent
async def stamped(ctx: runyard.Context) -> None:
    """Write tokens as fast as possible, each with its time."""
    for n in range(int(ctx.message.text)):
        await ctx.token(timed_token(n, monotonic_ns()))


@runyard.agent
async def asking(ctx: runyard.Context) -> None:
    """The same, after an approval."""
    await ctx.request_approval("go?")
    for n in range(int(ctx.message.text)):
        await ctx.token(timed_token(n, monotonic_ns()))


@runyard.agent
async def endless(ctx: runyard.Context) -> None:
    """Hold the thread until a cancel, so that clients can follow the next run before it begins."""
    await asyncio.Event().wait()
