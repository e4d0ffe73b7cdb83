"""Wait for a condition. `PATIENCE` is the deadline in seconds; only a failing test waits that long, so it suits the
slowest machine."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

PATIENCE = 90.0


async def eventually(what: str, condition: Callable[[], Any], seconds: float = PATIENCE, every: float = 0.01) -> Any:
    """Poll the condition (plain or async) until its result is true, and return the result."""
    deadline = time.monotonic() + seconds
    while True:
        asked = time.monotonic()
        found = condition()
        if isinstance(found, Awaitable):
            found = await found
        if found:
            return found
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError(f"waited {seconds} s in vain until {what}")
        # A condition that takes long is asked less often: otherwise it would slow down what it waits for.
        await asyncio.sleep(max(every, 2 * (now - asked)))
