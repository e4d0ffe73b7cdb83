"""The overview for operators: the whole installation from the store, and this process from its own parts."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from runyard.base.clock import Clock
from runyard.engine.log.stream import Streams
from runyard.errors import RunyardError
from runyard.store import Database, Overview

if TYPE_CHECKING:
    from runyard.engine.running.worker import Worker
    from runyard.telemetry.metrics import Metrics

MOST_COUNTED = 100_000
FRESH_SECONDS = 5.0
TIMEOUT_SECONDS = 1.0


class StatusReport(Struct, frozen=True):
    """The installation, and this process: its streams, its runs, and its latency to the database."""

    all: Overview
    streams: int
    active: int
    latency_ms: float
    clock_skew_ms: int  # the database's clock minus this machine's


class Overviews:
    def __init__(
        self, store: Database, streams: Streams, worker: "Worker | None", clock: Clock, metrics: "Metrics | None"
    ) -> None:
        """`metrics`: those that have the gauges of the whole installation; None for a process that serves none."""
        self._store = store
        self._streams = streams
        self._worker = worker
        self._clock = clock
        self._metrics = metrics
        self._refreshed_at = -FRESH_SECONDS

    async def report(self) -> StatusReport:
        began, began_ms = self._clock.monotonic(), self._clock.now_ms()
        await self._store.ping()
        latency = (self._clock.monotonic() - began) * 1000
        found = await self._store.overview(MOST_COUNTED)
        skew = found.now - (began_ms + self._clock.now_ms()) // 2
        active = 0 if self._worker is None else self._worker.active
        return StatusReport(found, self._streams.open, active, latency, skew)

    async def refresh_gauges(self) -> None:
        """Set the gauges of the whole installation, at most once in `FRESH_SECONDS`. If the database is unavailable,
        they keep their values."""
        if self._metrics is None or self._clock.monotonic() - self._refreshed_at < FRESH_SECONDS:
            return
        from runyard.telemetry.metrics import APPROVALS_WAITING, QUEUE_DEPTH, QUEUE_OLDEST

        self._refreshed_at = self._clock.monotonic()
        with suppress(RunyardError, TimeoutError):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                found = await self._store.overview(MOST_COUNTED)
            self._metrics.gauge(QUEUE_DEPTH, found.queued)
            self._metrics.gauge(QUEUE_OLDEST, waiting_ms(found) / 1000)
            self._metrics.gauge(APPROVALS_WAITING, found.approvals)


def waiting_ms(found: Overview) -> int:
    """Return how long the oldest ready lane has waited. A lane in its pause after a crash is not ready."""
    return 0 if found.ready_since is None else max(0, found.now - found.ready_since)
