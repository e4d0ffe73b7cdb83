"""Workers, their leases, and the runs they claim."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from runyard.domain.conversations.thread import Message
from runyard.domain.runs.run import Fate, Run
from runyard.errors import RunyardError
from runyard.store.runs.runs import Ending

NO_VERSIONS: Mapping[str, str] = MappingProxyType({})


class Claim(Struct, frozen=True):
    """A run that now belongs to this worker, under a new fence, with the message that caused it. `problem` says why
    that message cannot be read."""

    run: Run
    message: Message | None
    problem: RunyardError | None = None


class AgentFilter(Struct, frozen=True):
    """The agents whose runs a claim may take: those named or, if `are_excluded`, all others."""

    names: Sequence[str]
    are_excluded: bool = False

    def allows(self, agent: str) -> bool:
        return (agent in self.names) != self.are_excluded


class ReadyRun(Struct, frozen=True):
    """A queued run that a worker may claim now. `ready_at`: since when."""

    run_id: str
    agent: str
    ready_at: int


class Beat(Struct, frozen=True):
    """The result of a heartbeat: the runs that this worker holds, according to the store.

    If not `alive`, the lease has expired, and all its runs are (or will be) given to other workers."""

    alive: bool
    holds: Sequence[Run] = ()


class WorkerRow(Struct, frozen=True):
    """A registered worker process and how many runs it holds."""

    id: str
    label: str
    lease_until: int
    started_at: int
    runs: int = 0


class Reaped(Struct, frozen=True):
    """A run that was taken from a dead or unresponsive worker, and its fate."""

    run_id: str
    fate: Fate


class WorkerStore(Protocol):
    async def register(self, worker_id: str, label: str, ttl_ms: int) -> None:
        """Add a worker process with a lease. Ids are never reused."""

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        """Extend the lease unless it has expired, and return the runs that this worker holds."""

    async def runs_to_cancel(self, worker_id: str) -> Sequence[str]:
        """Return the ids of this worker's runs that have a cancel request."""

    async def list_workers(self) -> Sequence[WorkerRow]:
        """Return registered workers that have not retired, oldest first."""

    async def retire(self, worker_id: str) -> None:
        """Remove a worker. Runs that it still holds count as lost, and the reaper takes them."""

    async def ready_runs(self, limit: int) -> Sequence[ReadyRun]:
        """Return up to `limit` runs that a worker may claim now: the first of each ready lane, longest waiting lane
        first. Suspect runs are among them."""

    async def claim(
        self,
        worker_id: str,
        limit: int,
        suspects: bool,
        versions: Mapping[str, str] = NO_VERSIONS,
        agents: AgentFilter | None = None,
    ) -> Sequence[Claim]:
        """Take up to `limit` runs: the first queued run of each ready lane, longest waiting lane first.

        At most one run of a lane is claimed (or keeps the lane while it waits) at any time. Each claimed run gets fence
        + 1, attempts + 1, status running and, the first time, started_at. Suspect runs (SUSPECT_ATTEMPTS) are skipped
        unless `suspects`, and then at most one is taken. The first claim records the version of the run's agent from
        `versions`, by agent name. A worker whose lease has expired gets no run. With `agents`, a lane whose first run
        is of another agent is skipped."""

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        """Take runs away from dead workers, and end runs whose cancel deadline has passed.

        The fence rises at once, so that the old owner can write nothing more. `fate_of_orphan` decides: back into the
        queue with a back-off, or ended as poison or canceled with the events that `ending` makes."""
