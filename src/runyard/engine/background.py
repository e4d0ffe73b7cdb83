"""Background loops that must not die: an exception is logged, and the loop starts again."""

import asyncio
from collections.abc import Awaitable, Callable

from runyard.telemetry.logger import get_logger

log = get_logger()

REST_SECONDS = 1.0


def run_forever(name: str, loop: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """Run `loop` until the returned task is cancelled. Restart it if it returns or raises."""

    async def restart() -> None:
        while True:
            try:
                await loop()
            except Exception as error:
                log.error("background_task.failed", task=name, error=type(error).__name__)
                await asyncio.sleep(REST_SECONDS)

    return asyncio.create_task(restart(), name=name)
