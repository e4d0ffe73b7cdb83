"""Counts over all owners."""

from runyard.domain.events import Event
from runyard.domain.runs.run import Run, Status
from runyard.store import Overview
from runyard.stores.memory.queue.claims import Claims


class Overviews(Claims):
    async def overview(self, most: int) -> Overview:
        def count(status: Status) -> int:
            return min(most, sum(run.status is status for run in self._runs.values()))

        ready = [lane.ready_at for lane in self._lanes.values() if lane.has_work]
        behind = [e.ts for run in self._runs.values() for e in self._unpublished(run)[:1]][:most]
        return Overview(
            queued=count(Status.QUEUED),
            ready_since=min(ready, default=None),
            running=count(Status.RUNNING),
            approvals=min(most, sum(wait.state == "pending" and wait.is_approval for wait in self._waits.values())),
            behind=len(behind),
            behind_since=min(behind, default=None),
            workers=await self.list_workers(),
            now=self._now(),
            size=0,
            version="memory",
            xmin_age=None,
        )

    def _unpublished(self, run: Run) -> list[Event]:
        return self._events[run.id][self._outbox.published(run.id) :]
