"""Cancels runs. A queued or waiting run ends at once. A running one gets a cancel request in its row, and its worker is
told."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from runyard.clock import Clock
from runyard.domain.endings import EndWithoutWorker
from runyard.domain.events import Draft
from runyard.domain.run import Fate, Run, Status
from runyard.engine.log.stream import Pause, Streams
from runyard.engine.log.tail import Tail
from runyard.store import Store
from runyard.telemetry.metrics import Metrics


class Cancel:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        *,
        streams: Streams,
        clock: Clock,
        grace_seconds: float,
        stop_run: Callable[[str], None],
        metrics: Metrics,
    ) -> None:
        """`grace_seconds`: how long a worker has to end a run before the reaper does. `stop_run` tells the worker."""
        self._store = store
        self._tail = tail
        self._streams = streams
        self._grace_ms = int(grace_seconds * 1000)
        self._stop_run = stop_run
        self._metrics = metrics
        self._ending = EndWithoutWorker(clock, "requested")

    async def __call__(self, owner: str, run_id: str, patience: float = 0.0) -> Run:
        """Cancel a run and return it. Wait at most `patience` seconds for a running one to end."""
        written: list[Draft] = []

        def ending(run: Run, fate: Fate) -> Sequence[Draft]:
            written[:] = self._ending(run, fate)
            return written

        run = await self._store.cancel(owner, run_id, self._grace_ms, ending)
        if written:
            self._metrics.events_persisted(len(written))
            self._metrics.run_finished(run.status, run.agent)
        if run.status is not Status.RUNNING:
            self._tail.mark_stale(run_id)
            return run
        self._stop_run(run_id)
        if patience > 0:
            await self._wait_for_end(run, patience)
            run = await self._store.get_run(owner, run_id)
        return run

    async def _wait_for_end(self, run: Run, patience: float) -> None:
        follower = self._streams.follow(run.id, run.last_seq)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    while not isinstance(await follower.next(patience), Pause):
                        pass
        finally:
            follower.close()
