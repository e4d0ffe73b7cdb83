"""Wakes the followers of a run."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice

AT_ONCE = 256  # followers that are woken before the event loop does other work


class Wakeups:
    """The functions that wake the followers, by run."""

    def __init__(self, on_last_left: Callable[[str], None]) -> None:
        """`on_last_left` is called with the run that has lost its last subscriber."""
        self._wakes: dict[str, dict[Callable[[], None], None]] = {}
        self._on_last_left = on_last_left

    def subscribe(self, run_id: str, wake: Callable[[], None]) -> None:
        """Call `wake` whenever the run has news, until it is unsubscribed."""
        self._wakes.setdefault(run_id, {})[wake] = None

    def unsubscribe(self, run_id: str, wake: Callable[[], None]) -> None:
        wakes = self._wakes.get(run_id, {})
        wakes.pop(wake, None)
        if not wakes:
            self._wakes.pop(run_id, None)
            self._on_last_left(run_id)

    def wake(self, run_id: str) -> None:
        """Wake the followers of the run: the first ones now, the others in the next rounds of the event loop."""
        wakes = self._wakes.get(run_id)
        if wakes is None:
            return
        if len(wakes) <= AT_ONCE:
            for wake in tuple(wakes):
                wake()
            return
        self._wake_some(iter(tuple(wakes)))

    def _wake_some(self, wakes: Iterator[Callable[[], None]]) -> None:
        woken = 0
        for wake in islice(wakes, AT_ONCE):
            wake()
            woken += 1
        if woken == AT_ONCE:
            asyncio.get_running_loop().call_soon(self._wake_some, wakes)

    def wake_all(self) -> None:
        for run_id in tuple(self._wakes):
            self.wake(run_id)

    def has(self, run_id: str) -> bool:
        return run_id in self._wakes

    @property
    def runs(self) -> set[str]:
        return set(self._wakes)
