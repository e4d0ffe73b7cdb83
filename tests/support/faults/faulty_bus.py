"""A bus that spoils the hints of a pod in a flow test."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runyard.buses.bus import Bus, Hint


class FaultyBus:
    """A bus that loses, duplicates or reorders hints."""

    def __init__(self, bus: Bus, how: str) -> None:
        self._bus = bus
        self._how = how
        self._kept: list[Hint] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def send(self, hints: Sequence[Hint]) -> None:
        match self._how:
            case "silent":
                return
            case "doubling":
                self._bus.send(hints)
                asyncio.get_running_loop().call_later(0.03, self._bus.send, hints)
            case "shuffled":
                if not self._kept:
                    asyncio.get_running_loop().call_later(0.03, self._flush)
                self._kept += hints
            case _:
                raise SystemExit(f"tests/support/faults/faulty_bus.py: BUS cannot be {self._how!r}")

    def _flush(self) -> None:
        kept, self._kept = self._kept, []
        for hint in reversed(kept):
            self._bus.send([hint])
