"""Follows the open waits of one owner. Reports only a difference, so a client learns nothing of other owners.

A lost hint costs time only, because every heartbeat reads the store too.
"""

import asyncio
from collections.abc import Sequence

from runyard.engine.log.stream import Pause
from runyard.engine.log.wait_changes import WaitChanges
from runyard.errors import Unavailable
from runyard.store import WaitStore

MOST = 200  # waits that are compared; a client pages through more
PAUSE_SECONDS = 0.1  # between two reads of one follower


class WaitFollower:
    """Reports how many waits of an owner are open: at first, and whenever other waits are open. `close` it when
    done."""

    def __init__(self, changes: WaitChanges, store: WaitStore, owner: str) -> None:
        self._changes = changes
        self._store = store
        self._owner = owner
        self._known: list[str] | None = None
        self._is_gone = False
        self._wakeup = changes.subscribe()

    async def next(self, patience: float) -> Sequence[int] | Pause:
        """Return the number of open waits once they differ, or after `patience` seconds the reason for a pause."""
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

    def leave(self) -> None:
        """Stop waiting, because the client disconnected."""
        self._is_gone = True
        self._wakeup.set()

    def close(self) -> None:
        self._changes.unsubscribe(self._wakeup)
