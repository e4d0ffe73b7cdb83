"""Wakes the followers of a run."""

import asyncio
from collections.abc import Callable


class Wakeups:
    """The events that followers wait on, by run."""

    def __init__(self, on_last_left: Callable[[str], None]) -> None:
        """`on_last_left` is called with the run that has lost its last subscriber."""
        self._events: dict[str, set[asyncio.Event]] = {}
        self._on_last_left = on_last_left

    def subscribe(self, run_id: str) -> asyncio.Event:
        """Return an event that is set whenever the run has news. `unsubscribe` gives it back."""
        event = asyncio.Event()
        self._events.setdefault(run_id, set()).add(event)
        return event

    def unsubscribe(self, run_id: str, event: asyncio.Event) -> None:
        events = self._events.get(run_id, set())
        events.discard(event)
        if not events:
            self._events.pop(run_id, None)
            self._on_last_left(run_id)

    def wake(self, run_id: str) -> None:
        for event in self._events.get(run_id, ()):
            event.set()

    def wake_all(self) -> None:
        for run_id in self._events:
            self.wake(run_id)

    def has(self, run_id: str) -> bool:
        return run_id in self._events

    @property
    def runs(self) -> set[str]:
        return set(self._events)
