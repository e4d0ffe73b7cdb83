"""A loop that must not die: whatever it raises is logged by name, and it starts again."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

log = structlog.get_logger()

REST_SECONDS = 1.0


def on_duty(name: str, loop: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """Run `loop` until the task is cancelled."""

    async def keep() -> None:
        while True:
            try:
                await loop()
            except Exception as error:
                log.error("background_task.failed", task=name, error=type(error).__name__)
                await asyncio.sleep(REST_SECONDS)

    return asyncio.create_task(keep(), name=name)
