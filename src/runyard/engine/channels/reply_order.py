"""Starts the runs of one message one after another: the next when the one before has ended or parked, after a pause.

The transaction that ends a run marks the next one as due. This loop puts due runs into their lanes, so that no worker
waits during the pause. Every process does it, with or without a worker, so that it does not depend on a single one.
The reaper finds runs that were never marked.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from runyard.errors import RunyardError
from runyard.store import ChannelStore
from runyard.telemetry.logger import get_logger

log = get_logger()

AT_ONCE = 100


class ReplyOrder:
    def __init__(self, store: ChannelStore, wake_workers: Callable[[], None], poll_seconds: float) -> None:
        self._store = store
        self._wake_workers = wake_workers
        self._poll = poll_seconds
        self._wakeup = asyncio.Event()

    def wake(self) -> None:
        """Check for due runs now."""
        self._wakeup.set()

    async def run(self) -> None:
        """Release due runs until cancelled."""
        while True:
            self._wakeup.clear()
            pause = self._poll
            try:
                given, due_in = await self._store.release_held_runs(AT_ONCE)
                if given:
                    log.info("reply_order.advanced", runs=given)
                    self._wake_workers()
                if due_in is not None:
                    pause = max(0.0, min(pause, due_in / 1000))
            except RunyardError as error:
                log.warning("reply_order.round_failed", code=error.code)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wakeup.wait()
