"""A view of the terminal that refreshes itself until Ctrl-C."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

from runyard.cli.terminal.output import echo, understands_codes

SECONDS = 2.0
CLEAR = "\x1b[H\x1b[J"
T = TypeVar("T")


async def watch(fetch: Callable[[], Awaitable[T]], draw: Callable[[T], object], seconds: float = SECONDS) -> None:
    """Draw what `fetch` returns, again and again. A terminal is cleared before each; a file gets all of them."""
    while True:
        found = await fetch()
        if understands_codes(sys.stdout):
            echo(CLEAR, nl=False)
        draw(found)
        await asyncio.sleep(seconds)
