"""Whether this worker may still act for its runs, by a clock that goes on while the process or the machine is frozen.

A worker that was stopped (SIGSTOP, a paused or suspended machine) between a commit and the call that the commit
announces would call a tool of a run that is over, or that another worker has by now. So directly before such a call
the lease is looked at, and if the commit took long, the store is asked once more.
"""

from collections.abc import Callable

from runyard.agents.execution import Canceled
from runyard.clock import since_boot
from runyard.domain.run import Run
from runyard.errors import Fenced
from runyard.store import Beat, Store

LEASE_MARGIN = 0.8  # of the lease: then a worker that could not renew gives up by itself
FRESH_SECONDS = 1.0  # what the store said longer ago than this is asked again before a call


class Lease:
    """The lease of one life of a worker. A life that has ended is never renewed, so its runs stop acting."""

    def __init__(self, store: Store, worker_id: str, seconds: float, now: Callable[[], float] = since_boot) -> None:
        self._store = store
        self._worker_id = worker_id
        self._seconds = seconds
        self.now = now
        self._renewed = now()

    @property
    def holds(self) -> bool:
        return self.now() - self._renewed < self._seconds * LEASE_MARGIN

    async def renew(self) -> Beat:
        """Send a heartbeat. It counts from when it was sent."""
        sent = self.now()
        beat = await self._store.heartbeat(self._worker_id, int(self._seconds * 1000))
        if beat.alive:
            self._renewed = sent
        return beat

    async def confirm(self, run: Run, since: float) -> None:
        """Return if this worker has the run; `since` is when that was last known. Fenced or Canceled otherwise."""
        while True:
            if not self.holds:
                raise Fenced
            if self.now() - since < FRESH_SECONDS:
                return
            since = self.now()
            beat = await self.renew()
            held = next((each for each in beat.holds if each.id == run.id and each.fence == run.fence), None)
            if not beat.alive or held is None:
                raise Fenced
            if held.cancel_requested_at is not None:
                raise Canceled
