"""Cancels runs. A queued or waiting run ends at once. A running one gets a cancel request in its row, and its worker is
notified."""

from collections.abc import Awaitable, Callable, Sequence

from runyard.base.clock import Clock
from runyard.domain.events import Draft
from runyard.domain.runs.endings import EndWithoutWorker
from runyard.domain.runs.run import Fate, Run, Status
from runyard.engine.log.stream import Streams
from runyard.engine.log.tail import Tail
from runyard.store import Ending, RunStore
from runyard.telemetry.metrics import Metrics


class RecordedEnding:
    """Makes the events that end a run without its worker, and remembers them."""

    def __init__(self, ending: Ending) -> None:
        self._ending = ending
        self.written: Sequence[Draft] = ()

    def __call__(self, run: Run, fate: Fate) -> Sequence[Draft]:
        self.written = self._ending(run, fate)
        return self.written


class Cancel:
    def __init__(
        self,
        store: RunStore,
        tail: Tail,
        *,
        streams: Streams,
        clock: Clock,
        grace_seconds: float,
        stop_run: Callable[[str], None],
        metrics: Metrics,
        wake_workers: Callable[[], None] = lambda: None,
    ) -> None:
        """`grace_seconds`: how long a worker has to end a run before the reaper does. `stop_run` notifies the
        worker."""
        self._store = store
        self._tail = tail
        self._streams = streams
        self.grace_ms = int(grace_seconds * 1000)
        self._stop_run = stop_run
        self._wake_workers = wake_workers
        self._metrics = metrics
        self._ending = EndWithoutWorker(clock, "requested")
        self.on_ended: Callable[[Run], Awaitable[None]] | None = None  # set once it is built, see `linked_runs.py`

    async def __call__(self, owner: str, run_id: str, patience: float = 0.0) -> Run:
        """Cancel a run and return it. Wait at most `patience` seconds for a running one to end."""
        ending = self.new_ending()
        run = await self._store.cancel(owner, run_id, self.grace_ms, ending)
        await self.announce(run, ending)
        if run.status is Status.RUNNING and patience > 0:
            await self._streams.wait_for_end(run.id, run.last_seq, patience)
            run = await self._store.get_run(owner, run_id)
        return run

    def new_ending(self) -> "RecordedEnding":
        """Return what makes the events of a run that is canceled without its worker."""
        return RecordedEnding(self._ending)

    async def announce(self, run: Run, ending: "RecordedEnding") -> None:
        """Tell the worker of a run that was canceled, or the followers of one that ended at once."""
        if ending.written:
            self._metrics.events_persisted(len(ending.written))
            self._metrics.run_finished(run.status, run.agent)
        if run.status is Status.RUNNING:
            self._stop_run(run.id)
            return
        self._tail.mark_stale(run.id)
        if ending.written and self.on_ended is not None:
            await self.on_ended(run)
        if ending.written and run.thread_id is not None:
            self._wake_workers()  # messages that it had not taken have started new runs
