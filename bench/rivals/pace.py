"""Tokens that carry a time, and the tokens of a conversation at a steady pace. The module needs nothing but Python, so
every environment can import it."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic_ns

CONVERSING = 0.02  # seconds between two tokens: 50 tokens a second
LETTERS = str.maketrans("0123456789", "abcdefghij")


def timed_token(n: int, ns: int) -> str:
    """Return the token number `n` with a time. The time is in letters, because redaction takes some long numbers for
    those of cards and phones."""
    return f"t{n} {str(ns).translate(LETTERS)} "


async def due_tokens(count: int, pause: float = CONVERSING) -> AsyncIterator[str]:
    """Yield tokens with the times at which they are due, never before them. A server that falls behind cannot hide it
    by making its tokens later."""
    begun, step = monotonic_ns(), round(pause * 1e9)
    for n in range(count):
        due = begun + n * step
        await asyncio.sleep(max(0.0, (due - monotonic_ns()) / 1e9))
        yield timed_token(n, due)
