"""Who waits for news of which run."""

import asyncio
from collections.abc import Callable


class Wakeups:
    def __init__(self, quiet: Callable[[str], None]) -> None:
        """`quiet` is called with a run that nobody waits for any more."""
        self._wakeups: dict[str, set[asyncio.Event]] = {}
        self._quiet = quiet

    def hang(self, run_id: str) -> asyncio.Event:
        bell = asyncio.Event()
        self._wakeups.setdefault(run_id, set()).add(bell)
        return bell

    def take_down(self, run_id: str, bell: asyncio.Event) -> None:
        wakeups = self._wakeups.get(run_id, set())
        wakeups.discard(bell)
        if not wakeups:
            self._wakeups.pop(run_id, None)
            self._quiet(run_id)

    def wake(self, run_id: str) -> None:
        for bell in self._wakeups.get(run_id, ()):
            bell.set()

    def ring_all(self) -> None:
        for run_id in self._wakeups:
            self.wake(run_id)

    def has(self, run_id: str) -> bool:
        return run_id in self._wakeups

    @property
    def runs(self) -> set[str]:
        return set(self._wakeups)
