"""Wakes the followers of an owner's open waits, so that an inbox need not poll.

A commit of this process wakes them at once, a hint of another process a moment later. Without a follower a commit costs
one check. `engine/control/wait_follower.py` reads what has changed.
"""

import asyncio
from collections.abc import Sequence

from runyard.domain.events import TERMINAL, Event

TYPES = frozenset({"approval.requested", "approval.decided", "wait.requested", "wait.answered", TERMINAL})
HINT_SECONDS = 0.5  # hints of other processes do not say what was written, so they are taken together


class WaitChanges:
    """The events that the followers of this process wait on."""

    def __init__(self) -> None:
        self._wakeups: set[asyncio.Event] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.is_cut = False

    def subscribe(self) -> asyncio.Event:
        """Return an event that is set whenever waits may have changed. `unsubscribe` gives it back."""
        wakeup = asyncio.Event()
        self._wakeups.add(wakeup)
        return wakeup

    def unsubscribe(self, wakeup: asyncio.Event) -> None:
        self._wakeups.discard(wakeup)

    def take(self, events: Sequence[Event]) -> None:
        """Wake the followers if one of these events, which were just committed, is about a wait."""
        if self._wakeups and any(event.type in TYPES for event in events):
            self.wake()

    def wake(self) -> None:
        for wakeup in self._wakeups:
            wakeup.set()

    def wake_soon(self) -> None:
        """Wake the followers a moment later, because another process has written something."""
        if self._wakeups and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(HINT_SECONDS, self._hinted)

    def _hinted(self) -> None:
        self._timer = None
        self.wake()

    def cut(self) -> None:
        """Break every stream off, so that clients reconnect to another process."""
        self.is_cut = True
        self.wake()
