"""Processes on a bus, as a test sees them: what each has heard, and waiting until it has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from runyard.bus import Hint
from runyard.buses.reconnecting import ReconnectingBus
from runyard.ids import new_id

LONG = 30.0  # nothing takes so long; a test that waits for it has failed


async def until(condition: Callable[[], bool], seconds: float = LONG) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not come true in time"
        await asyncio.sleep(0.005)  # waits on purpose: for the condition


class Process:
    """A bus and what was heard on it."""

    def __init__(self, bus: ReconnectingBus) -> None:
        self.bus = bus
        self.heard: list[Hint] = []

    def hear(self, hints: Sequence[Hint]) -> None:
        self.heard.extend(hints)

    async def has_heard(self, hint: Hint) -> None:
        await until(lambda: hint in self.heard)

    async def gets_through_to(self, *others: Process) -> None:
        """Send, again and again, until all have heard: a bus may lose what is sent while it reconnects."""
        probe = new_id()

        def are_reached() -> bool:
            self.bus.send([Hint("log", probe, 1)])
            return all(any(hint.run_id == probe for hint in one.heard) for one in others)

        await until(are_reached)


@asynccontextmanager
async def processes(*buses: ReconnectingBus) -> AsyncIterator[list[Process]]:
    everyone = [Process(bus) for bus in buses]
    try:
        for one in everyone:
            await one.bus.open(one.hear)
        yield everyone
    finally:
        for one in everyone:
            await one.bus.close()


@asynccontextmanager
async def eavesdropping(bus: ReconnectingBus) -> AsyncIterator[tuple[list[str], Callable[[Sequence[str]], object]]]:
    """The messages themselves, as they pass, and a way to put any other between them."""
    messages: list[str] = []
    link = bus.link()
    await link.open(messages.append)
    watching = asyncio.create_task(link.watch())
    try:
        yield messages, link.publish
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await link.close()
