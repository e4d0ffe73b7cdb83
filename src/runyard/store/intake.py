"""Intake: posts become queued runs."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from runyard.domain.events import Draft, Event
from runyard.domain.run import Run
from runyard.domain.thread import Message, Thread
from runyard.errors import RunyardError
from runyard.store.workers import AgentFilter, Claim


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
