"""Buses within one process, joined by a hub. Alone on its hub, a bus has nobody to tell: that is what SQLite needs."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from runyard.buses.reconnecting import Heard, ReconnectingBus


class Hub:
    def __init__(self) -> None:
        self.ears: set[Heard] = set()


class MemoryBus(ReconnectingBus):
    name = "memory"

    def __init__(self, hub: Hub | None = None) -> None:
        super().__init__()
        self._hub = hub or Hub()

    @property
    def has_others(self) -> bool:
        return len(self._hub.ears) > 1

    def link(self) -> "_Link":
        return _Link(self._hub)


class _Link:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._heard: Heard | None = None

    async def open(self, heard: Heard) -> None:
        self._heard = heard
        self._hub.ears.add(heard)

    async def publish(self, messages: Sequence[str]) -> None:
        for message in messages:
            for heard in list(self._hub.ears):
                heard(message)

    async def watch(self) -> NoReturn:
        while True:
            await asyncio.Event().wait()

    async def close(self) -> None:
        if self._heard is not None:
            self._hub.ears.discard(self._heard)
