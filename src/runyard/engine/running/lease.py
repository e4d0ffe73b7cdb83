"""The worker's lease, measured by a clock that also counts the time in which the process or machine was suspended.

A worker that is frozen (SIGSTOP, a paused or suspended machine) between a commit and the tool call that the commit
announces could call the tool of a run that has ended or that another worker has taken. So the lease is checked
directly before such a call, and if the commit took long, the store is asked again.
"""

import asyncio
from collections.abc import Callable

from runyard.agents.execution import Canceled
from runyard.base.clock import since_boot
from runyard.domain.runs.run import Run
from runyard.errors import Fenced, Unavailable
from runyard.store import Beat, WorkerStore

LEASE_MARGIN = 0.8  # share of the lease after which a worker that could not renew it stops its runs
RETRY_SECONDS = 0.05
FRESH_SECONDS = 1.0  # how old an answer of the store may be before a tool call


class Lease:
    """The lease of one registration of a worker. After the worker registers again, it is never renewed."""

    def __init__(
        self, store: WorkerStore, worker_id: str, seconds: float, now: Callable[[], float] = since_boot
    ) -> None:
        self._store = store
        self._worker_id = worker_id
        self._seconds = seconds
        self.now = now
        self._renewed = now()

    @property
    def is_valid(self) -> bool:
        return self.now() - self._renewed < self._seconds * LEASE_MARGIN

    async def renew(self) -> Beat:
        """Send a heartbeat. The lease counts from the moment it was sent."""
        sent = self.now()
        beat = await self._store.heartbeat(self._worker_id, int(self._seconds * 1000))
        if beat.alive:
            self._renewed = sent
        return beat

    async def confirm(self, run: Run, since: float) -> None:
        """Return if this worker still holds the run; `since` is when that was last known. While the database is
        unavailable, ask again as long as the lease is valid.

        Raises Fenced if another worker may have it, Canceled if a cancel was requested."""
        while True:
            if not self.is_valid:
                raise Fenced
            if self.now() - since < FRESH_SECONDS:
                return
            asked = self.now()
            try:
                beat = await self.renew()
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)
                continue
            since = asked
            current = next((each for each in beat.holds if each.id == run.id and each.fence == run.fence), None)
            if not beat.alive or current is None:
                raise Fenced
            if current.cancel_requested_at is not None:
                raise Canceled
