"""Removes the files of deleted threads and runs: workspaces, checkpoint files and fallback copies.

The transaction that deletes a thread or a run also records a removal. Every process reads the removals and removes
its local files, so a crash between the two, a deletion by another process and a deletion by retention leave no file.
A removal that fails is tried again in the next round and after a restart. Removals stay in the store for `KEPT_MS`, so
that a machine that was off for less than that removes its files too.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from runyard.base.clock import Clock
from runyard.errors import RunyardError
from runyard.store import Removal, RetentionStore
from runyard.telemetry.logger import get_logger

log = get_logger()

DAY_MS = 24 * 3600 * 1000
KEPT_MS = 30 * DAY_MS
OVERLAP_MS = 10 * 60 * 1000  # read again, because a commit may become visible after a later one
ROUND_SECONDS = 30.0
PAGE = 500

Remover = Callable[[str, str, str | None], Awaitable[None]]
"""Remove one kind of files of a deleted thread or run, given its id, its owner and the name of its chat. Do nothing if
they are gone. Raise OSError on failure."""


class DeletedFiles:
    def __init__(self, store: RetentionStore, clock: Clock, removers: Sequence[Remover]) -> None:
        self._store = store
        self._clock = clock
        self._removers = removers
        self._since = 0
        self._failed: dict[str, Removal] = {}
        self._done: dict[str, int] = {}  # within the overlap

    async def run(self) -> None:
        """Remove files until cancelled."""
        while True:
            try:
                await self.round()
                await self._store.forget_removals(self._clock.now_ms() - KEPT_MS)
            except RunyardError as error:
                log.warning("files.cleanup_failed", code=error.code)
            await asyncio.sleep(ROUND_SECONDS)

    async def round(self) -> None:
        """Remove the files of everything that was deleted since the last round."""
        failed, self._failed = self._failed, {}
        for removal in failed.values():
            await self._remove(removal)
        at, after = max(0, self._since - OVERLAP_MS), None
        while page := await self._store.removals(at, after, PAGE):
            for removal in page:
                if removal.id not in self._done:
                    await self._remove(removal)
            at, after = page[-1].removed_at, page[-1].id
            self._since = max(self._since, at)
        self._done = {key: at for key, at in self._done.items() if at >= self._since - OVERLAP_MS}

    async def _remove(self, removal: Removal) -> None:
        self._done[removal.id] = removal.removed_at
        for remover in self._removers:
            try:
                await remover(removal.id, removal.owner, removal.chat)
            except OSError as error:
                self._failed[removal.id] = removal
                log.error("files.removal_failed", id=removal.id, error=type(error).__name__)
