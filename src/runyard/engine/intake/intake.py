"""Where runs begin: a message, its run and `run.queued` become durable in one commit, shared with whoever posts
meanwhile.

Nothing runs here: the answer goes back as soon as the run is queued, and a worker (this process's is told at once)
claims it.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from runyard.clock import Clock
from runyard.domain.events import Drafter, RunQueued, clean
from runyard.domain.run import Run, run_lane, thread_lane
from runyard.domain.task import Task
from runyard.domain.thread import Message, Thread
from runyard.engine.intake.fork import excerpt
from runyard.engine.limits import Admission, InputLimits
from runyard.engine.log.group import Group
from runyard.engine.log.tail import Tail
from runyard.engine.running.worker import Worker
from runyard.errors import Conflict, Invalid, NotFound, RunyardError
from runyard.ids import is_id, new_id
from runyard.store import Accepted, IdempotencyKey, Post, Store

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

GROUP_POSTS = 200
KEPT_LABELS = frozenset({"request_id"})  # of a task: never redacted


def idempotency_key(owner: str, route: str, key: str | None, request: object) -> IdempotencyKey | None:
    """A client's key, scoped to caller and route, with a digest of what was asked."""
    if key is None:
        return None
    digest = hashlib.sha256(msgspec.json.encode(request, order="sorted")).hexdigest()
    return IdempotencyKey(f"{owner} {route}", key, digest)


class Intake:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        clock: Clock,
        agents: Sequence[str],
        default_agent: str,
        worker: Worker | None,
        wake_workers: Callable[[], None],
        redactor: "Redactor | None" = None,
        admission: Admission | None = None,
        plans: Sequence[str] = (),
    ) -> None:
        """`plans`: the agents that `start_plan` starts; the first one is the default."""
        self._plans = tuple(plans)
        self._admission = admission or Admission(store, clock, InputLimits())
        self._redactor = redactor
        self._store = store
        self._tail = tail
        self._clock = clock
        self._agents = frozenset(agents)
        self._default_agent = default_agent
        self._worker = worker
        self._wake_workers = wake_workers
        self._draft = Drafter(clock, "api")
        self._accept: Group[Post, Accepted | RunyardError] = Group(self._commit, GROUP_POSTS)

    async def open_thread(
        self, owner: str, user_id: str | None, agent: str | None, key: IdempotencyKey | None = None
    ) -> Thread:
        self._check(agent)
        thread = Thread(
            id=new_id(),
            owner=owner,
            user_id=None if user_id is None else clean(user_id),
            agent=agent,
            created_at=self._clock.now_ms(),
        )
        return await self._store.create_thread(thread, key)

    async def post(
        self, owner: str, face: str, thread_id: str, text: str, agent: str | None, key: IdempotencyKey | None = None
    ) -> Accepted:
        """Store a message of a person and queue the run that answers it."""
        self._check(agent)
        return await self._begin(self._message(owner, face, thread_id, text, agent, key))

    def _message(
        self, owner: str, face: str, thread_id: str, text: str, agent: str | None, key: IdempotencyKey | None
    ) -> Post:
        self._admission.check(owner, text)
        now = self._clock.now_ms()
        run_id = new_id()
        text = clean(text)
        if self._redactor is not None:
            text = self._redactor.text(text)
        message = Message(id=new_id(), thread_id=thread_id, run_id=run_id, role="user", text=text, created_at=now)
        return Post(
            owner=owner,
            face=face,
            run_id=run_id,
            lane_key=thread_lane(thread_id),
            thread_id=thread_id,
            agent=agent,
            default_agent=self._default_agent,
            queued=lambda agent: self._draft(RunQueued(agent, message.id)),
            message=message,
            created_at=now,
            key=key,
            most_queued=self._admission.queued_per_lane,
        )

    async def say(
        self, owner: str, face: str, name: str, text: str, agent: str | None, key: IdempotencyKey | None = None
    ) -> Accepted:
        """Store a message to the thread that its client calls `name`, which is made in the same commit if there is
        none, and queue the run that answers it. A thread without a name is known by our own id."""
        self._check(agent)
        if is_id(name) and await self._is_nameless(owner, name):
            return await self.post(owner, face, name, text, agent, key)
        thread = Thread(id=new_id(), owner=owner, external_id=name, created_at=self._clock.now_ms())
        return await self._begin(replace(self._message(owner, face, thread.id, text, agent, key), thread=thread))

    async def _is_nameless(self, owner: str, thread_id: str) -> bool:
        try:
            return (await self._store.get_thread(owner, thread_id)).external_id is None
        except NotFound:
            return False

    async def edit(
        self, owner: str, face: str, run_id: str, text: str, agent: str | None, key: IdempotencyKey | None = None
    ) -> Accepted:
        """Say something else in the place of the message that caused this run: a new branch of the thread."""
        self._check(agent)
        old = await self._store.get_run(owner, run_id)
        if old.thread_id is None:
            raise NotFound("That run belongs to no thread.")
        post = self._message(owner, face, old.thread_id, text, agent, key)
        return self._queued(await self._store.edit(owner, post, run_id))

    async def fork(
        self,
        owner: str,
        thread: Thread,
        run_id: str | None,
        key: IdempotencyKey | None = None,
        at_seq: int | None = None,
    ) -> Thread:
        """A new thread that goes on where this run, or the last one of the thread, has ended, or from its event
        `at_seq`."""
        if run_id is None and thread.head_run_id is None:
            raise Conflict("There is nothing in this thread yet that could be forked.")
        run = await self._store.get_run(owner, run_id or thread.head_run_id or "")
        if run.thread_id != thread.id:
            raise NotFound("There is no run with that id in the thread.")
        fork = Thread(
            id=new_id(), owner=owner, user_id=thread.user_id, agent=thread.agent, created_at=self._clock.now_ms()
        )
        copy = None if at_seq is None else await excerpt(self._store, self._clock, run, at_seq, fork)
        return await self._store.fork_thread(fork, run.id, key, copy)

    async def start(
        self,
        owner: str,
        face: str,
        agent: str | None,
        external_id: str | None = None,
        key: IdempotencyKey | None = None,
        task: Task | None = None,
    ) -> Accepted:
        """Queue a run that no message caused, perhaps with a task, in a lane of its own. With an `external_id` that a
        run of this owner has already, it is that run, and nothing starts."""
        self._check(agent)
        self._admission.check(owner)
        task = None if task is None else self.as_stored(task)
        run_id = new_id()
        return await self._begin(
            Post(
                owner=owner,
                face=face,
                run_id=run_id,
                lane_key=run_lane(run_id),
                agent=agent,
                default_agent=self._default_agent,
                queued=lambda agent: self._draft(RunQueued(agent, task=task)),
                external_id=external_id,
                created_at=self._clock.now_ms(),
                key=key,
            )
        )

    async def start_plan(
        self, owner: str, face: str, plan: str | None, external_id: str | None, key: IdempotencyKey | None
    ) -> Accepted:
        """Start a run of this plan, or of the default one. Invalid if it is an agent of another kind."""
        self._check(plan)
        if not self._plans:
            raise Invalid("No plan is declared here; declare one with runyard.plan.")
        if plan is not None and plan not in self._plans:
            hint = f"The plans here are: {', '.join(self._plans)}."
            raise Invalid(f"The agent {plan} is not a plan; send it a message in a thread instead. {hint}")
        return await self.start(owner, face, plan or self._plans[0], external_id, key)

    def as_stored(self, task: Task) -> Task:
        """The task with its inputs and labels redacted, if redaction is on. The request id is kept: answers repeat
        it."""
        if self._redactor is None:
            return task
        kept = {name: task.labels[name] for name in KEPT_LABELS if name in task.labels}
        labels = {name: self._redactor.text(label) for name, label in task.labels.items()}
        return replace(task, inputs=self._redactor.value(task.inputs), labels={**labels, **kept})

    async def _begin(self, post: Post) -> Accepted:
        result = await self._accept(post)
        if isinstance(result, RunyardError):
            raise result
        return self._queued(result)

    async def retry(self, owner: str, run_id: str, key: IdempotencyKey | None = None) -> Accepted:
        """Queue a new run for the same cause as one that has ended."""
        self._admission.check(owner)
        old = await self._store.get_run(owner, run_id)
        task = await self._task(old)
        post = Post(
            owner=owner,
            face=old.face,
            run_id=new_id(),
            lane_key=old.lane_key,
            thread_id=old.thread_id,
            default_agent=old.agent,
            queued=lambda agent: self._draft(RunQueued(agent, old.trigger_message_id, task)),
            created_at=self._clock.now_ms(),
            key=key,
            most_queued=self._admission.queued_per_lane,
        )
        return self._queued(await self._store.retry(owner, post, run_id))

    async def _task(self, run: Run) -> Task | None:
        """What a run without a message was asked to do."""
        first = () if run.trigger_message_id else await self._store.read(run.id, 0, 1)
        queued = first[0].payload if first else None
        return queued.task if isinstance(queued, RunQueued) else None

    async def _commit(self, posts: Sequence[Post]) -> Sequence[Accepted | RunyardError]:
        """One commit for all; what need not queue is claimed in it for this process's worker, if that has room."""
        if self._worker is None:
            return await self._store.accept(posts)
        with self._worker.room(len(posts)) as room:
            return await self._store.accept(posts, room)

    def _queued(self, accepted: Accepted) -> Accepted:
        if accepted.event is not None:
            self._tail.add(accepted.run_id, [accepted.event])
            if self._worker is not None and accepted.claim is not None:
                self._worker.take(accepted.claim)
            else:
                self._wake_workers()
        return accepted

    def _check(self, agent: str | None) -> None:
        if agent is not None and agent not in self._agents:
            raise Invalid("No agent of that name is declared here.")
        if agent is None and not self._default_agent:
            raise NotFound("No agent is declared here.")
