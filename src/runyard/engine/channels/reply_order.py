"""Lets the next run of a group go: when the one before it has ended or parked, and the pause is over.

The end itself says who is due, in its own transaction; here the due are put into their lanes, so that a pause holds no
worker. Every process does it, with or without a worker, and what one did not live to do the next look of any other
does; the reaper's safety net finds what even the end did not tell.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from runyard.errors import RunyardError
from runyard.store import Store

log = structlog.get_logger()

AT_ONCE = 100


class ReplyOrder:
    def __init__(self, store: Store, wake_workers: Callable[[], None], poll_seconds: float) -> None:
        self._store = store
        self._wake_workers = wake_workers
        self._poll = poll_seconds
        self._bell = asyncio.Event()

    def wake(self) -> None:
        """A run has left: somebody may be due."""
        self._bell.set()

    async def run(self) -> None:
        """Look whenever somebody is due, until cancelled."""
        while True:
            self._bell.clear()
            patience = self._poll
            try:
                given, due_in = await self._store.release_held_runs(AT_ONCE)
                if given:
                    log.info("reply_order.advanced", runs=given)
                    self._wake_workers()
                if due_in is not None:
                    patience = max(0.0, min(patience, due_in / 1000))
            except RunyardError as error:
                log.warning("reply_order.round_failed", code=error.code)
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._bell.wait()
