"""Cancel is a row: queued and waiting runs end at once, a running one is flagged and told; then the truth is
answered."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from runyard.clock import Clock
from runyard.domain.events import Draft
from runyard.domain.run import Fate, Run, Status
from runyard.engine.control.reaper import Ender
from runyard.engine.log.stream import Pause, Streams
from runyard.engine.log.tail import Tail
from runyard.store import Store
from runyard.telemetry.metrics import Metrics


class Cancel:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        streams: Streams,
        clock: Clock,
        grace_seconds: float,
        stop: Callable[[str], None],
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._tail = tail
        self._streams = streams
        self._grace_ms = int(grace_seconds * 1000)
        self._stop = stop
        self._metrics = metrics
        self._ending = Ender(clock, "requested")

    async def __call__(self, owner: str, run_id: str, patience: float = 0.0) -> Run:
        """Ask the run to stop and return it, after at most `patience` seconds of waiting for its end."""
        written: list[Draft] = []

        def ending(run: Run, fate: Fate) -> Sequence[Draft]:
            written[:] = self._ending(run, fate)
            return written

        run = await self._store.cancel(owner, run_id, self._grace_ms, ending)
        if written:
            self._metrics.events_persisted(len(written))
            self._metrics.run_finished(run.status, run.agent)
        if run.status is not Status.RUNNING:
            self._tail.stale(run_id)
            return run
        self._stop(run_id)
        if patience > 0:
            await self._end_of(run, patience)
            run = await self._store.get_run(owner, run_id)
        return run

    async def _end_of(self, run: Run, patience: float) -> None:
        follower = self._streams.follow(run.id, run.last_seq)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    while not isinstance(await follower.next(patience), Pause):
                        pass
        finally:
            follower.close()
