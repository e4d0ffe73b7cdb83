"""Workers, claims, and the runs of dead workers."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.runs.run import SUSPECT_ATTEMPTS, Run, Status, backoff_ms, fate_of_orphan
from runyard.store import NO_VERSIONS, AgentFilter, Beat, Claim, Ending, ReadyRun, Reaped, WorkerRow
from runyard.stores.memory.runs.transitions import Transitions


class Claims(Transitions):
    async def register(self, worker_id: str, label: str, ttl_ms: int) -> None:
        now = self._now()
        self._workers[worker_id] = WorkerRow(worker_id, label, lease_until=now + ttl_ms, started_at=now)

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        if not self._is_alive(worker_id):
            return Beat(alive=False)
        self._workers[worker_id] = replace(self._workers[worker_id], lease_until=self._now() + ttl_ms)
        return Beat(alive=True, holds=[run for run in self._runs.values() if run.worker_id == worker_id])

    async def runs_to_cancel(self, worker_id: str) -> Sequence[str]:
        mine = (run for run in self._runs.values() if run.worker_id == worker_id)
        return sorted(run.id for run in mine if run.cancel_requested_at is not None)

    async def list_workers(self) -> Sequence[WorkerRow]:
        held = Counter(run.worker_id for run in self._runs.values() if run.status is Status.RUNNING)
        return [replace(worker, runs=held[worker.id]) for _, worker in sorted(self._workers.items())]

    async def retire(self, worker_id: str) -> None:
        self._workers.pop(worker_id, None)

    def _is_alive(self, worker_id: str) -> bool:
        return worker_id in self._workers and self._workers[worker_id].lease_until > self._now()

    def _ready(self) -> list[Run]:
        """The first run of each ready lane, longest waiting lane first."""
        now = self._now()
        ready = sorted((lane.ready_at, key) for key, lane in self._lanes.items() if lane.is_ready(now))
        return [self._runs[self._lanes[key].first] for _, key in ready]

    async def ready_runs(self, limit: int) -> Sequence[ReadyRun]:
        return [ReadyRun(run.id, run.agent, self._lanes[run.lane_key].ready_at) for run in self._ready()[:limit]]

    async def claim(
        self,
        worker_id: str,
        limit: int,
        suspects: bool,
        versions: Mapping[str, str] = NO_VERSIONS,
        agents: AgentFilter | None = None,
    ) -> Sequence[Claim]:
        claims: list[Claim] = []
        if not self._is_alive(worker_id):
            return claims
        for run in self._ready():
            if len(claims) >= limit:
                break
            if agents is not None and not agents.allows(run.agent):
                continue
            if run.attempts >= SUSPECT_ATTEMPTS:
                if not suspects:
                    continue
                suspects = False
            claims.append(self._take(run, worker_id, versions.get(run.agent)))
        return claims

    def _take(self, run: Run, worker_id: str, version: str | None) -> Claim:
        self._lanes[run.lane_key].take()
        if run.started_at is None:
            self._tell_of(run, "agent_typing")
        self._outbox.reopen(run.id)
        run = self._change(
            run,
            status=Status.RUNNING,
            worker_id=worker_id,
            fence=run.fence + 1,
            last_batch=0,
            attempts=run.attempts + 1,
            agent_version=run.agent_version or version,
            started_at=run.started_at if run.started_at is not None else self._now(),
        )
        return Claim(run, self._trigger(run))

    async def end_stuck_sessions(self) -> int:
        return 0

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        lost = sorted((run for run in self._runs.values() if self._is_lost(run)), key=lambda run: run.id)
        reaped = [self._reap(run, max_attempts, ending) for run in lost[:limit]]
        at_work = {run.worker_id for run in self._runs.values()}
        for worker_id in [each for each in self._workers if each not in at_work and not self._is_alive(each)]:
            del self._workers[worker_id]
        return reaped

    def _is_lost(self, run: Run) -> bool:
        """Return the runs of dead workers, and running runs past their cancel deadline."""
        if run.status is not Status.RUNNING or run.worker_id is None:
            return False
        overdue = run.cancel_deadline is not None and run.cancel_deadline <= self._now()
        return overdue or not self._is_alive(run.worker_id)

    def _reap(self, run: Run, max_attempts: int, ending: Ending) -> Reaped:
        fate = fate_of_orphan(run, max_attempts)
        self._outbox.reopen(run.id)
        if fate == "requeue":
            self._requeue(run, "crash", backoff_ms(run.attempts))
        else:
            self._give_up(run, fate, ending)
        return Reaped(run.id, fate)
