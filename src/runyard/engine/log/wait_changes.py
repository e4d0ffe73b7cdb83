"""Tells clients that the waits of an owner have changed, so that an inbox need not poll.

A commit of this process wakes the followers at once, a hint of another process a moment later. A follower then reads
the ids of the owner's open waits, and reports only a difference: a client learns nothing of other owners. A lost hint
costs time only, because every heartbeat reads too. Without a follower a commit costs one check.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runyard.domain.events import TERMINAL, Event
from runyard.errors import Unavailable
from runyard.store import Store

if TYPE_CHECKING:
    from runyard.engine.log.stream import Pause

TYPES = frozenset({"approval.requested", "approval.decided", "wait.requested", "wait.answered", TERMINAL})
MOST = 200  # waits that are compared; a client pages through more
HINT_SECONDS = 0.5  # hints of other processes do not say what was written, so they are taken together
PAUSE_SECONDS = 0.1  # between two reads of one follower


class WaitChanges:
    """The followers of this process."""

    def __init__(self) -> None:
        self._followers: set[WaitFollower] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.is_cut = False

    def take(self, events: Sequence[Event]) -> None:
        """Wake the followers if one of these events, which were just committed, is about a wait."""
        if self._followers and any(event.type in TYPES for event in events):
            self.wake()

    def wake(self) -> None:
        for follower in self._followers:
            follower.wake()

    def wake_soon(self) -> None:
        """Wake the followers a moment later, because another process has written something."""
        if self._followers and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(HINT_SECONDS, self._hinted)

    def _hinted(self) -> None:
        self._timer = None
        self.wake()

    def cut(self) -> None:
        """Break every stream off, so that clients reconnect to another process."""
        self.is_cut = True
        self.wake()

    def follow(self, store: Store, owner: str) -> "WaitFollower":
        follower = WaitFollower(self, store, owner)
        self._followers.add(follower)
        return follower

    def remove(self, follower: "WaitFollower") -> None:
        self._followers.discard(follower)


class WaitFollower:
    """Reports how many waits of one owner are open: at first, and whenever other waits are open. `close` it when
    done."""

    def __init__(self, changes: WaitChanges, store: Store, owner: str) -> None:
        self._changes = changes
        self._store = store
        self._owner = owner
        self._known: list[str] | None = None
        self._is_gone = False
        self._wakeup = asyncio.Event()

    async def next(self, patience: float) -> "Sequence[int] | Pause":
        """Return the number of open waits when it is news, or why there is none within `patience` seconds."""
        from runyard.engine.log.stream import Pause

        until = asyncio.get_running_loop().time() + patience
        while not (self._is_gone or self._changes.is_cut):
            self._wakeup.clear()
            found = await self._open_waits()
            if found is not None and found != self._known:
                self._known = found
                return [len(found)]
            try:
                async with asyncio.timeout_at(until):
                    await self._wakeup.wait()
                    await asyncio.sleep(PAUSE_SECONDS)
            except TimeoutError:
                return Pause.IDLE
        return Pause.GONE if self._is_gone else Pause.CUT

    async def _open_waits(self) -> list[str] | None:
        """Return the ids of the owner's open waits, or None while the database is unavailable."""
        try:
            return [wait.id for wait in await self._store.list_waits(self._owner, None, MOST)]
        except Unavailable:
            return None

    def wake(self) -> None:
        self._wakeup.set()

    def leave(self) -> None:
        """Stop waiting, because the client disconnected."""
        self._is_gone = True
        self._wakeup.set()

    def close(self) -> None:
        self._changes.remove(self)
