"""Wakes the followers of a run."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice

AT_ONCE = 256  # followers that are woken before the event loop does other work
Wake = Callable[[], bool | None]


class Wakeups:
    """The functions that wake the followers, by run."""

    def __init__(self, on_last_left: Callable[[str], None]) -> None:
        """`on_last_left` is called with the run that has lost its last subscriber."""
        self._wakes: dict[str, dict[Wake, None]] = {}
        self._crowds: dict[str, bool] = {}  # runs whose followers are being woken, and whether once more afterwards
        self._on_last_left = on_last_left

    def subscribe(self, run_id: str, wake: Wake) -> None:
        """Call `wake` whenever the run has news, until it is unsubscribed. If it returns True, it is called again when
        the other followers of the run have been woken."""
        self._wakes.setdefault(run_id, {})[wake] = None

    def unsubscribe(self, run_id: str, wake: Wake) -> None:
        wakes = self._wakes.get(run_id, {})
        wakes.pop(wake, None)
        if not wakes:
            self._wakes.pop(run_id, None)
            self._on_last_left(run_id)

    def wake(self, run_id: str) -> None:
        """Wake the followers of the run: the first ones now, the others in the next rounds of the event loop. Events
        that come meanwhile wake all of them again."""
        wakes = self._wakes.get(run_id)
        if wakes is None:
            return
        if run_id in self._crowds:
            self._crowds[run_id] = True
        elif len(wakes) > AT_ONCE:
            self._crowds[run_id] = False
            self._wake_some(run_id, iter(tuple(wakes)))
        else:
            for wake in [wake for wake in tuple(wakes) if wake()]:
                wake()

    def _wake_some(self, run_id: str, wakes: Iterator[Wake]) -> None:
        woken = 0
        for wake in islice(wakes, AT_ONCE):
            if wake():
                self._crowds[run_id] = True
            woken += 1
        if woken == AT_ONCE:
            asyncio.get_running_loop().call_soon(self._wake_some, run_id, wakes)
        elif self._crowds.pop(run_id):
            self.wake(run_id)

    def wake_all(self) -> None:
        for run_id in tuple(self._wakes):
            self.wake(run_id)

    def has(self, run_id: str) -> bool:
        return run_id in self._wakes

    @property
    def runs(self) -> set[str]:
        return set(self._wakes)
