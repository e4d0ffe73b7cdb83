"""How long a test waits for what should happen at once, in seconds. It costs time only where something is broken, so it
is meant for the slowest machine, with all its cores taken."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

PATIENCE = 90.0


async def eventually(what: str, condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Look again every few milliseconds until the condition (plain or async) gives something true, and return that."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if isinstance(found, Awaitable):
            found = await found
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s in vain until {what}")
        await asyncio.sleep(0.01)
