"""The queue: posts become runs, workers claim them, and messages steer them."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from runyard.domain.conversations.thread import Message, Thread
from runyard.domain.events import Draft, Event
from runyard.domain.push import Push
from runyard.domain.runs.run import Fate, Run
from runyard.errors import RunyardError
from runyard.store.runs import Ending

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
    """Workers, their leases, and the runs they claim."""

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


class IdempotencyKey(Struct, frozen=True):
    """A client's key for one request. `scope` is the caller and the route, `digest` the hash of the request."""

    scope: str
    key: str
    digest: str


class Post(Struct, frozen=True, kw_only=True):
    """One request for one run, with the message that causes it (None for a retry, which names the run it repeats).

    The agent is the one named here, else the thread's, else `default_agent`. `queued` makes the first event for it.
    `thread`, if given, is created first. If its owner already has a thread of that `external_id`, the post uses that
    thread, and its message and lane change accordingly.

    `trigger_id` names the message that causes the run if another request stores it. With `after_run` the new run is
    held until that run has ended or parked, and `pause_ms` longer. `parent_run_id` is the run that waits for its end.
    `push` is stored with the run that the post starts, and not if the post is repeated or steered.
    """

    owner: str
    face: str
    run_id: str
    lane_key: str
    default_agent: str
    queued: Callable[[str], Draft]
    created_at: int
    thread_id: str | None = None
    thread: Thread | None = None
    agent: str | None = None
    message: Message | None = None
    external_id: str | None = None
    key: IdempotencyKey | None = None
    trigger_id: str | None = None
    after_run: str | None = None
    pause_ms: int = 0
    depth: int = 0
    parent_run_id: str | None = None
    has_client_tools: bool = False
    most_queued: int | None = None  # limit for runs in its lane, including this one
    files: Sequence[str] = ()  # that the message refers to
    push: Push | None = None


class Room(Struct, frozen=True):
    """Free places of a worker in this process. Runs that need not queue are claimed for it in the commit that accepts
    them, if `agents` allows their agent."""

    worker_id: str
    places: int
    versions: Mapping[str, str] = MappingProxyType({})
    agents: AgentFilter | None = None

    def allows(self, agent: str) -> bool:
        return self.agents is None or self.agents.allows(agent)


class Accepted(Struct, frozen=True):
    """The run that a post started. With `repeated`, the run that an earlier post started with the same key or the same
    external id.

    `claim` is set if the run was claimed in the same commit for the worker with room. `steered`: the message went to a
    run that was under way, and `event` is its `message.received`. `interrupted`: the run that was canceled for it.
    `thread_id`: the thread of a new run, if it has one."""

    run_id: str
    event: Event | None
    repeated: bool = False
    claim: Claim | None = None
    steered: bool = False
    interrupted: Run | None = None
    thread_id: str | None = None


class IntakeStore(Protocol):
    """Intake: posts become queued runs."""

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        """Store each post's message, run and first event and put the run into its lane: one commit for all, in order.

        Each post succeeds or fails alone: NotFound (the owner has no such thread or file), KeyReused, QueueFull (its
        lane already has `most_queued` runs). Runs of one lane are queued in the order given. The parent of the new run
        is the thread's head, and the new run becomes the head.

        A post whose `external_id` is that of an existing run of this owner starts nothing and returns that run.

        With `room`, a run whose lane is idle is claimed in the same commit, like by `claim`, while there are places.
        A worker whose lease has expired gets no run."""

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        """Queue a new run for the message that caused `run_id`, with the same parent. Mark the old run as superseded
        and, if it was the thread's head, make the new run the head. RunActive unless the old run has ended; Conflict
        if it was already superseded. A known key returns the run created then."""

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        """Queue a new run for a message that replaces the one that caused `run_id`. The new run has the same parent,
        becomes the thread's head, and supersedes that run and all its descendants in the thread. Their logs stay.

        NotFound if the run belongs to no thread; RunActive while one of them has not ended; Conflict if the run was
        already superseded. A known key returns the run created then."""

    async def count_queued(self, owner: str, most: int) -> int:
        """Return how many runs of this owner wait in lanes; the count stops at `most`."""

    async def forget_keys(self, older_than_ms: int) -> None:
        """Delete idempotency keys of that age. A later request with the same key counts as a new one."""


class SteeringStore(Protocol):
    """Steering: messages for a thread whose run has not ended.

    The active run of a thread is the one that holds its lane (running, or waiting), else the first queued one."""

    async def steer(self, post: Post, received: Callable[[str], Draft], room: Room | None = None) -> Accepted:
        """Store the post's message for the thread's active run, and append the event that `received` makes for it.

        The run's agent takes the message later (`Part.takes`). When the run ends, however it ends, each message that
        was not taken starts a new run, in the same transaction: the run that this post describes, with the same
        agent. The runs join the lane in the order of their messages.

        Without an active run, or if it is being canceled or another agent is asked, the post is accepted like by
        `accept`. QueueFull if the run has `most_queued` messages that were not taken. A known key returns the run that
        has the message now."""

    async def interrupt(self, post: Post, grace_ms: int, ending: Ending, room: Room | None = None) -> Accepted:
        """Cancel the thread's active run, like `cancel`, and accept the post, in one transaction."""

    async def accept_if_idle(self, post: Post, room: Room | None = None) -> Accepted:
        """Accept the post, unless the thread has an active run: RunActive."""

    async def new_messages(self, run_id: str) -> Sequence[Message]:
        """Return the messages that came for a run and that its agent has not taken, in the order of their events."""
