"""A bus within one process. Buses on the same hub reach each other; alone on its hub a bus sends nothing, as for
SQLite."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from runyard.buses.reconnecting import OnMessage, ReconnectingBus


class Hub:
    def __init__(self) -> None:
        self.listeners: set[OnMessage] = set()


class MemoryBus(ReconnectingBus):
    name = "memory"

    def __init__(self, hub: Hub | None = None) -> None:
        super().__init__()
        self._hub = hub or Hub()

    @property
    def has_others(self) -> bool:
        return len(self._hub.listeners) > 1

    def new_connection(self) -> "_MemoryConnection":
        return _MemoryConnection(self._hub)


class _MemoryConnection:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._on_message: OnMessage | None = None

    async def open(self, on_message: OnMessage) -> None:
        self._on_message = on_message
        self._hub.listeners.add(on_message)

    async def publish(self, messages: Sequence[str]) -> None:
        for message in messages:
            for on_message in list(self._hub.listeners):
                on_message(message)

    async def watch(self) -> NoReturn:
        while True:
            await asyncio.Event().wait()

    async def close(self) -> None:
        if self._on_message is not None:
            self._hub.listeners.discard(self._on_message)
