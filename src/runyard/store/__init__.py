"""What a store promises. One suite (`tests/store/`) holds every store to these sentences.

Every method is one operation, atomic by itself: it happens whole or not at all, and what it returned is durable.
Times are milliseconds since 1970. Deadlines (leases, back-off, cancel grace) are measured on the store's own clock,
never on a worker's. An operation that names an `owner` treats what belongs to others as unknown.

Authority: the lane row serialises its runs; the run row serialises its log. Locks are taken in the order
worker, lanes (sorted), runs (sorted); nothing waits for a lane while it holds a run.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Protocol

from msgspec import Struct

from runyard.domain.api_key import ApiKey
from runyard.domain.append import Outcome, Part
from runyard.domain.approval import Approval
from runyard.domain.events import Draft, Event
from runyard.domain.publication import Backlog, Mark
from runyard.domain.run import Fate, Run
from runyard.domain.thread import Message, Thread
from runyard.errors import RunyardError


class IdempotencyKey(Struct, frozen=True):
    """A client's key for one request: `scope` is caller and route, `digest` the hash of what was asked."""

    scope: str
    key: str
    digest: str


class Post(Struct, frozen=True, kw_only=True):
    """One request for one run, with the message that causes it (absent for a retry, which names the run it repeats).

    The agent is the one named here, else the thread's, else `default_agent`; `queued` makes the first event for it.
    `thread`, if given, is made first unless its owner has one of that `external_id`: then that one is meant, and the
    message and the lane are those of its id.

    `trigger_id`: the message that causes it is stored by another request. With `after_run` the new run is held until
    that one has ended or parked, and `pause_ms` longer.
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
    most_queued: int | None = None  # runs in its lane, with this one


class Excerpt(Struct, frozen=True):
    """The beginning of a run's log as a run of its own, which has ended: what a thread goes on from that was forked in
    the middle of that run."""

    run: Run
    message: Message | None
    drafts: Sequence[Draft]


class Claim(Struct, frozen=True):
    """A run that is now this worker's, under a new fence, with the message that caused it, or why that cannot be
    read."""

    run: Run
    message: Message | None
    problem: RunyardError | None = None


class Room(Struct, frozen=True):
    """Places that a worker of this process has free: runs that need not queue are claimed for it as they are
    accepted."""

    worker_id: str
    places: int
    versions: Mapping[str, str] = MappingProxyType({})


class Accepted(Struct, frozen=True):
    """The run that a post started, or (`repeated`) the one that an earlier post with the same key, or the same name for
    its run, had started.

    `claim`: it was claimed at once for the worker that had room."""

    run_id: str
    event: Event | None
    repeated: bool = False
    claim: Claim | None = None


class Beat(Struct, frozen=True):
    """A heartbeat's answer: what this worker has claimed, as the store knows it.

    Not alive: the lease ran out, everything this worker held is (or will be) someone else's."""

    alive: bool
    holds: Sequence[Run] = ()


class WorkerRow(Struct, frozen=True):
    id: str
    label: str
    lease_until: int
    started_at: int
    runs: int = 0


class Overview(Struct, frozen=True, kw_only=True):
    """What is going on in the whole installation. Counts stop at the number that was asked for: nothing here gets slow
    because there is much of it."""

    queued: int
    ready_since: int | None  # of the idle lane that has had something to run for the longest time
    running: int
    approvals: int
    behind: int  # runs with events that are not published
    behind_since: int | None  # when the oldest of those was made
    workers: Sequence[WorkerRow]
    now: int  # on the store's clock
    size: int  # bytes
    version: str  # of the database
    xmin_age: int | None  # transactions since the oldest snapshot that somebody holds open; Postgres only


class Head(Struct, frozen=True):
    """How far a run's log goes, whether it has ended, up to which seq it is published, and whether it is to be canceled
    because nobody follows it."""

    last_seq: int
    finished: bool
    published: int
    detached: bool = False


class Snapshot(Struct, frozen=True):
    """The state of a run after the event `seq`, encoded by the caller that folded the log."""

    seq: int
    data: bytes


class Tombstone(Struct, frozen=True, kw_only=True):
    """What is kept, for a while, of a run that was dropped: how it ended, and no content."""

    id: str
    agent: str
    status: str
    stop_reason: str | None
    error_code: str | None
    last_seq: int
    created_at: int
    finished_at: int
    dropped_at: int


class Removal(Struct, frozen=True):
    """A thread, or a run without one, that was deleted. `chat`: what the chats face called the thread."""

    id: str
    owner: str
    chat: str | None
    removed_at: int


class Swept(Struct, frozen=True):
    """What one batch of retention did: how many runs (or words) it looked at and dropped, and after which id to go on
    (None: all that is old enough was looked at)."""

    looked: int
    dropped: int
    cursor: str | None


class Reaped(Struct, frozen=True):
    """A run that was taken from a dead (or deaf) worker, and what became of it."""

    run_id: str
    fate: Fate


class Document(Struct, frozen=True):
    """A text that can be searched."""

    id: str
    title: str
    text: str


class Hit(Struct, frozen=True):
    id: str
    title: str
    text: str
    score: float


NO_VERSIONS: Mapping[str, str] = MappingProxyType({})
Ending = Callable[[Run, Fate], Sequence[Draft]]
RunColumn = Literal["status", "agent", "thread_id"]
RunFilter = Mapping[RunColumn, str]


class Store(Protocol):
    # --- lifecycle -------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Connect; bring the schema up to date; raise StartupError with one sentence where that cannot be."""

    async def close(self) -> None:
        """Let go of everything; what was accepted before is durable."""

    async def ping(self) -> None:
        """Return if the database answers; raise Unavailable if not."""

    async def check_room(self) -> None:
        """Raise DiskFull if a write of this process found the disk of the database full within the last minute."""

    async def overview(self, most: int) -> Overview:
        """What is going on, of all owners; each count stops at `most`."""

    # --- threads and messages --------------------------------------------------------------------------------------

    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        """Store a thread and return it; with a known key, return the thread made then. KeyReused if the digest
        differs."""

    async def get_thread(self, owner: str, thread_id: str) -> Thread:
        """NotFound if there is none."""

    async def get_named_thread(self, owner: str, external_id: str) -> Thread:
        """The thread that a client gave this name; NotFound if there is none."""

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, excerpt: Excerpt | None = None
    ) -> Thread:
        """Store a thread that goes on from the end of `run_id`, which stays as it is, and return it; with a known key,
        the thread made then. NotFound if the run is not one of a thread of the same owner, RunActive until it has
        ended.

        With an `excerpt` it goes on from that, which is stored in the same commit as the first run of the thread; then
        `run_id`, from which it was taken, need not have ended."""

    async def list_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        """Newest first, those with an id below `before`."""

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        """Remove a thread with its messages, runs, events, approvals and checkpoints. RunActive while any of its runs
        has not ended, Conflict while there are threads that were forked from it."""

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        """Everything said in a thread, in the order it was said."""

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        """These messages, by id; unknown ids are left out."""

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        """What was said before this run on its own branch: for each of the last `limit` ancestors its question and its
        answer, oldest first. Later messages that already wait in the queue are not part of it."""

    # --- intake ----------------------------------------------------------------------------------------------------

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        """Store each post's message, run and first event and put the run into its lane: one commit for all, in order.

        Each post succeeds or fails alone: NotFound (no such thread of this owner), KeyReused, QueueFull (its lane has
        `most_queued` runs already). Runs of one lane are queued in the order given. The new run's parent is the
        thread's head, and it becomes the head.

        A post whose `external_id` is that of a run of this owner starts nothing: it is answered with that run.

        With `room`, a run whose lane is idle is claimed in the same commit, while there are places, as `claim` would do
        it next; not for a worker whose lease ran out."""

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        """Queue a new run for the message that caused `run_id`, with the same parent; mark the old run superseded
        and, if it was the thread's head, put the new one in its place. RunActive unless the old run has ended;
        Conflict if it was superseded before; a known key returns the run made then."""

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        """Queue a new run for another message in the place of the one that caused `run_id`: it has the same parent, is
        the thread's head, and supersedes that run and all that follow it in its thread. Their logs stay as they are.

        NotFound if the run belongs to no thread; RunActive while one of them has not ended; Conflict if the run was
        superseded before; a known key returns the run made then."""

    async def count_queued(self, owner: str, most: int) -> int:
        """How many runs of this owner wait in lanes; it counts no further than `most`."""

    async def forget_keys(self, older_than_ms: int) -> None:
        """Drop idempotency keys of that age: a request that comes so late is a new one."""

    # --- tools with a rate limit -----------------------------------------------------------------------------------

    async def take_call(self, owner: str, agent: str, tool: str, most: int, window_ms: int) -> int:
        """Count a call of a tool by an owner's runs of an agent, if there were fewer than `most` in the last
        `window_ms`, and return 0; otherwise count nothing and return the milliseconds until it may be made. Atomic over
        all processes; the time is the database's."""

    async def forget_calls(self, older_than_ms: int) -> None:
        """Drop the counts whose last call is older than that."""

    # --- workers and claims ----------------------------------------------------------------------------------------

    async def register(self, worker_id: str, label: str, ttl_ms: int) -> None:
        """Note a new worker process with a lease. Ids are never reused."""

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        """Extend the lease if it has not run out, and tell which runs this worker holds."""

    async def cancels(self, worker_id: str) -> Sequence[str]:
        """Which of this worker's runs are to be canceled."""

    async def list_workers(self) -> Sequence[WorkerRow]:
        """Who has registered and not retired, oldest first."""

    async def retire(self, worker_id: str) -> None:
        """Forget a worker. What it still holds counts as lost from now on, and is reaped."""

    async def claim(
        self, worker_id: str, limit: int, suspects: bool, versions: Mapping[str, str] = NO_VERSIONS
    ) -> Sequence[Claim]:
        """Take up to `limit` runs: the first queued run of each lane that is ready, longest waiting lane first.

        At most one run of a lane is ever claimed (or holding the lane while it waits). Each gets fence + 1, attempts
        + 1, status running and, the first time, started_at. Runs under suspicion (SUSPECT_ATTEMPTS) are left alone
        unless `suspects`, and then at most one is taken. The first claim notes the version of the run's agent, as
        `versions` gives it by name. A worker whose lease ran out gets nothing."""

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        """Take the runs of dead workers away from them, and end runs whose cancel deadline has passed.

        The fence rises at once, so that nothing of the old owner can be written. `fate_of_orphan` decides: back into
        the queue with a back-off, or ended as poison or canceled with the events that `ending` makes."""

    async def unstick(self) -> int:
        """End the database sessions of processes that stopped in the middle of a transaction some seconds ago, and so
        keep its locks; how many there were."""

    # --- runs that nobody follows ----------------------------------------------------------------------------------

    async def detach(self, run_id: str, grace_ms: int) -> None:
        """Note that the run's client went away: unless somebody comes back within that time, it is to be canceled. A
        run that waits for a person, has ended or is being canceled is left alone; to park forgets it."""

    async def attach(self, run_ids: Sequence[str]) -> None:
        """Somebody follows these runs: they are not to be canceled."""

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        """Cancel, as `cancel` would, the runs that nobody came back to in time; return them as they are now."""

    # --- the log ---------------------------------------------------------------------------------------------------

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        """Write parts of several runs in one commit; `domain.append.judge` decides on each, under its run's lock.

        A part is refused alone. Drafts get the next contiguous seqs. A Finish, Park or Release happens in the same
        commit and frees or keeps the lane. A part that was committed before is recognised by its batch number and not
        written again. Busy: the lane of a part with a move is locked elsewhere; a part that comes alone waits
        instead. Raises Unavailable if it is not known whether the commit happened: call again with the same parts."""

    async def tend(self) -> None:
        """Routine care, now and then: partitions ahead of time on Postgres, statistics on SQLite."""

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        """Up to `limit` events with seq > `after`, in order, without gap."""

    async def heads(self, run_ids: Sequence[str]) -> Mapping[str, Head]:
        """How far these logs go; unknown ids are left out."""

    # --- publication -----------------------------------------------------------------------------------------------

    async def unpublished(self, quiet_ms: int, limit: int) -> Sequence[Backlog]:
        """Runs that may have something to publish (or to close), longest untouched first; not those that somebody
        published less than `quiet_ms` ago."""

    async def publish(self, marks: Sequence[Mark]) -> Sequence[str]:
        """Advance the cursors of these runs, never back, and move the state of those that ended from started: one
        commit for all. Return the runs that were skipped because another transaction has their rows locked: publish
        these again later. May be called again, and by several processes at once, for the same runs."""

    # --- runs, cancel, approvals -----------------------------------------------------------------------------------

    async def get_run(self, owner: str, run_id: str) -> Run:
        """NotFound if there is none."""

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        """The run that a client gave this name; NotFound if there is none."""

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        """Newest first, those with an id below `before` that fit `where`."""

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        """Ask a run to stop; return it as it is now.

        Queued or waiting: ended at once, with the events that `ending` makes. Running: flagged, with a deadline. Ended:
        nothing changes. Of many callers at once all see the same end."""

    async def get_approval(self, owner: str, approval_id: str) -> Approval:
        """NotFound if there is none."""

    async def list_approvals(
        self, owner: str, before: str | None, limit: int, run_id: str | None = None
    ) -> Sequence[Approval]:
        """Those still pending, of all runs or of one, newest first."""

    async def decide(
        self, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
    ) -> Approval:
        """Record a decision and its event, and put the run back into the queue if it is parked.

        The first decision wins: AlreadyDecided for any later one; RunEnded if the run ended undecided."""

    async def expire(self, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
        """Decide as expired, with the event made for each, the approvals that nobody answered until `expires_at`."""

    # --- checkpoints -----------------------------------------------------------------------------------------------

    async def unsaved(self, limit: int) -> Sequence[Run]:
        """Runs of the chats face that have ended and have no checkpoint (or were superseded since), longest ended
        first."""

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        """Keep the copy of a run that has ended, in the place of an earlier one; without data, only note that one is
        kept elsewhere. False, and nothing happens, if the run is gone or was superseded since `run` was read."""

    async def checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        """The copies that are kept of a thread's runs, or of one of them, oldest run first."""

    # --- snapshots -------------------------------------------------------------------------------------------------

    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        """Keep a state of a run, in place of one of the same kind at the same seq. Do nothing if the run is gone or its
        log does not reach that seq. Snapshots are deleted together with their run."""

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        """Return the newest state of this kind at or before the seq `upto`, or None."""

    # --- retention -------------------------------------------------------------------------------------------------

    async def sweep(self, horizon: int, after: str | None, limit: int) -> Swept:
        """Drop what ended before `horizon`, of up to `limit` runs with an id above `after`: their logs, approvals,
        cursors, checkpoints and queues, and a tombstone for each in their place.

        A chat goes as a whole, with its messages, when the last of its runs ended before the horizon; never while one
        of them has not ended or while another thread was forked from it. So what waits, and what something that lives
        goes back to, stays. A run that was set off in a conversation goes alone, unless somebody is held behind it."""

    async def removals(self, since: int, after: str | None, limit: int) -> Sequence[Removal]:
        """Threads, and runs without a thread, that `delete_thread` and `sweep` deleted at `since` (with an id above
        `after`) or later, in the order of time and id. A row is written in the transaction that deletes."""

    async def forget_removals(self, before: int) -> None:
        """Forget the removals made before a time."""

    async def drop_logs(self, horizon: int, tombstones: int) -> int:
        """Give back the room of logs that were swept, and forget tombstones made before `tombstones`; how many parts of
        the log went as a whole (on SQLite none: rows go when they are swept)."""

    async def get_tombstone(self, owner: str, run_id: str) -> Tombstone:
        """Of a run by its id or by the name that a client gave it; NotFound if there is none."""

    # --- API keys --------------------------------------------------------------------------------------------------

    async def create_api_key(self, key: ApiKey) -> None:
        """Store a new key. Ids are never reused."""

    async def get_api_key(self, key_id: str) -> ApiKey:
        """As it is, also if it was revoked or has expired; NotFound if there is none."""

    async def list_api_keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        """Those of an owner, or all; newest first, those made before the key `before`."""

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        """Make a key worthless, for good, and return it; one that is keeps its time. NotFound if there is none."""

    async def touch_api_keys(self, key_ids: Sequence[str], quiet_ms: int) -> None:
        """Note that these keys are used now, but for those noted less than `quiet_ms` ago; unknown ids do no harm."""

    # --- search ----------------------------------------------------------------------------------------------------

    async def put_documents(self, collection: str, documents: Sequence[Document]) -> None:
        """Replace a collection of searchable documents."""

    async def get_documents(self, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
        """The documents with these ids, each after the name of its collection; those that are not there are left
        out."""

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        """The documents that hold any of the query's words, best first. Any text is a valid query."""
