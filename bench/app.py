"""The measured agents, written as a user would write them. A message says how many tokens are wanted.

A token is `t<number> `, and where its way is timed `t<number> <when> `: the monotonic clock in nanoseconds, which all
processes of a machine share. That is when the token was made; for `conversing`, which must keep its pace, it is when
the token was due, so a server that falls behind cannot hide it by making its tokens later.
"""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic_ns

import runyard

TEXTS = [f"t{n} " for n in range(100_000)]
PACES = {"paced": 0.01, "conversing": 0.02}  # seconds between two tokens


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
        await asyncio.sleep(PACES["paced"])


@runyard.agent
async def conversing(ctx: runyard.Context) -> None:
    """50 tokens a second, each at its time."""
    async for token in due_tokens(int(ctx.message.text), PACES["conversing"]):
        await ctx.token(token)


async def due_tokens(count: int, pause: float) -> AsyncIterator[str]:
    """Yield tokens with the times at which they are due, never before them."""
    begun, step = monotonic_ns(), round(pause * 1e9)
    for n in range(count):
        due = begun + n * step
        await asyncio.sleep(max(0.0, (due - monotonic_ns()) / 1e9))
        yield f"t{n} {due} "


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
