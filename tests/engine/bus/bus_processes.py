"""Processes on a bus, with the hints that each received."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from runyard.base.ids import new_id
from runyard.buses.bus import Hint
from runyard.buses.reconnecting import ReconnectingBus

ANNOUNCEMENT = re.compile(r"runyard1 [0-9a-f-]{36}")
LONG = 30.0  # a test that waits this long has failed


async def until(condition: Callable[[], bool], seconds: float = LONG) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not come true in time"
        await asyncio.sleep(0.005)  # waits on purpose: for the condition


class Process:
    """A bus and the hints that it received."""

    def __init__(self, bus: ReconnectingBus) -> None:
        self.bus = bus
        self.heard: list[Hint] = []

    def hear(self, hints: Sequence[Hint]) -> None:
        self.heard.extend(hints)

    async def has_heard(self, hint: Hint) -> None:
        await until(lambda: hint in self.heard)

    async def gets_through_to(self, *others: Process) -> None:
        """Send until all others have received a hint: a bus may lose hints while it reconnects."""
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
async def eavesdropping(
    bus: ReconnectingBus, announcements: list[str] | None = None
) -> AsyncIterator[tuple[list[str], Callable[[Sequence[str]], object]]]:
    """Yield the raw messages on the wire, and a function that publishes raw messages. Announcements go to a separate
    list."""
    messages: list[str] = []
    announced = [] if announcements is None else announcements

    def note(message: str) -> None:
        (announced if ANNOUNCEMENT.fullmatch(message) else messages).append(message)

    connection = bus.new_connection()
    await connection.open(note)
    watching = asyncio.create_task(connection.watch())
    try:
        yield messages, connection.publish
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await connection.close()
