"""The measured agents, written as a user would write them. A message says how many tokens are wanted.

A token is `t<number> `, and where its way is timed `t<number> <when> `: the monotonic clock in nanoseconds, which all
processes of a machine share. That is when the token was made; for `conversing`, which must keep its pace, it is when
the token was due.
"""

import asyncio
from time import monotonic_ns

import runyard
from bench.rivals.pace import due_tokens

TEXTS = [f"t{n} " for n in range(100_000)]
PACE = 0.01  # seconds between two tokens


@runyard.agent
async def tokens(ctx: runyard.Context) -> None:
    """As fast as it goes."""
    for text in TEXTS[: int(ctx.message.text)]:
        await ctx.token(text)


@runyard.agent
async def paced(ctx: runyard.Context) -> None:
    """As a model would: a token, then a pause."""
    for n in range(int(ctx.message.text)):
        await ctx.token(f"t{n} {monotonic_ns()} ")
        await asyncio.sleep(PACE)


@runyard.agent
async def conversing(ctx: runyard.Context) -> None:
    """50 tokens a second, each at its time."""
    async for token in due_tokens(int(ctx.message.text)):
        await ctx.token(token)


@runyard.agent
async def noop(ctx: runyard.Context) -> None:
    """Nothing: what is left is what a run itself costs."""


@runyard.agent
async def stamped(ctx: runyard.Context) -> None:
    """As fast as it goes, each token with its time."""
    for n in range(int(ctx.message.text)):
        await ctx.token(f"t{n} {monotonic_ns()} ")


@runyard.agent
async def asking(ctx: runyard.Context) -> None:
    """The same, after a person agreed."""
    await ctx.request_approval("go?")
    for n in range(int(ctx.message.text)):
        await ctx.token(f"t{n} {monotonic_ns()} ")


@runyard.agent
async def endless(ctx: runyard.Context) -> None:
    """Holds its thread until it is canceled, so that what comes after it can be followed before it begins."""
    await asyncio.Event().wait()
