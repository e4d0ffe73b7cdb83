"""Queues runs: a message, its run and `run.queued` become durable in one commit, shared with concurrent requests.

Nothing is executed here. The call returns as soon as the run is queued; a worker claims it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runyard.base.clock import Clock
from runyard.base.ids import is_id, new_id
from runyard.domain.content.parts import StoredContent
from runyard.domain.conversations.thread import Thread
from runyard.domain.events import Drafter, RunQueued, clean, cleaned
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.runs.run import Run, run_lane, thread_lane
from runyard.domain.runs.thread_head import ThreadHead
from runyard.domain.task import Budget, RunOptions, Task, message_task
from runyard.engine.intake.client_tools import checked_client_tools
from runyard.engine.intake.content import stored_content
from runyard.engine.intake.idempotency import check_run_exists
from runyard.engine.intake.lookups import checked_plan, has_no_name, request_of
from runyard.engine.intake.redacted import options_as_stored, redacted_tool, task_as_stored
from runyard.engine.intake.threads import ThreadIntake
from runyard.engine.intake.user_message import NewPush, UserMessage
from runyard.engine.intake.while_running import PostsWhileRunning, WhileRunning
from runyard.engine.limits import Admission, InputLimits
from runyard.engine.log.group import Group
from runyard.engine.log.tail import Tail
from runyard.errors import Invalid, NotFound, RunyardError
from runyard.store import Accepted, IdempotencyKey, Post, Store
from runyard.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor
    from runyard.engine.control.cancel import Cancel
    from runyard.engine.running.worker import Worker

GROUP_POSTS = 200


class Intake(ThreadIntake):
    def __init__(
        self,
        store: Store,
        tail: Tail,
        *,
        clock: Clock,
        agents: Sequence[str],
        default_agent: str,
        wake_workers: Callable[[], None],
        worker: "Worker | None" = None,
        redactor: "Redactor" = NO_REDACTION,
        admission: Admission | None = None,
        plans: Sequence[str] = (),
        cancel: "Cancel | None" = None,
        metrics: Metrics | None = None,
        tell_thread: Callable[[str], None] = lambda thread_id: None,
    ) -> None:
        """`worker`: the worker of this process, which may claim new runs directly. `plans`: the agents that
        `start_plan` starts; the first is the default. `tell_thread` notifies other processes of a new run in a
        thread."""
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
        self._tell_thread = tell_thread
        self._draft = Drafter(clock, "api")
        self._post_while_running = PostsWhileRunning(store, tail, self._draft, worker, cancel, metrics or Metrics())
        self._commit_in_group: Group[Post, Accepted | RunyardError] = Group(self._commit, GROUP_POSTS)

    async def post(self, thread_id: str, given: UserMessage) -> Accepted:
        """Store a user's message in a thread and queue the run that answers it."""
        self._check_agent(given.agent)
        return await self._accept(await self._post(thread_id, given), given.while_running)

    async def post_by_name(self, name: str, given: UserMessage, head: ThreadHead | None = None) -> Accepted:
        """Store a message in the thread that its client calls `name`, and queue its run. The same commit creates the
        thread if it is new. A thread without a name is found by its id. `head`: what the caller read of the thread."""
        self._check_agent(given.agent)
        new = Thread(id=new_id(), owner=given.owner, external_id=clean(name), created_at=self._clock.now_ms())
        thread = None if is_id(name) and await has_no_name(self._store, given.owner, name, head) else new
        post = await self._post(name if thread is None else thread.id, given)
        return await self._accept(replace(post, thread=thread), given.while_running)

    async def edit(self, run_id: str, given: UserMessage) -> Accepted:
        """Replace the message that caused a run by another, in a new branch of the thread, and queue its run."""
        self._check_agent(given.agent)
        old = await self._store.get_run(given.owner, run_id)
        if old.thread_id is None:
            raise NotFound("The run belongs to no thread, so it has no message to edit.")
        post = await self._post(old.thread_id, given)
        return await self._announce(given.owner, await self._store.edit(given.owner, post, run_id))

    async def _post(self, thread_id: str, given: UserMessage) -> Post:
        tools = [redacted_tool(self._redactor, tool) for tool in checked_client_tools(given.client_tools)]
        content = await stored_content(self._store, self._redactor, given.owner, given.text, given.parts)
        self._admission.check(given.owner, content.text if given.parts else given.text)
        asked = None if given.options is None else options_as_stored(self._redactor, given.options)
        now = self._clock.now_ms()
        run_id = new_id()
        message = content.message(thread_id, run_id, now)
        return Post(
            owner=given.owner,
            face=given.face,
            run_id=run_id,
            lane_key=thread_lane(thread_id),
            thread_id=thread_id,
            agent=given.agent,
            default_agent=self._default_agent,
            queued=lambda agent: self._draft(RunQueued(agent, message.id, client_tools=tools, options=asked)),
            has_client_tools=bool(tools) or asked is not None,
            external_id=cleaned(given.external_id),
            message=message,
            created_at=now,
            key=given.key,
            most_queued=self._admission.queued_per_lane,
            files=content.files,
            push=None if given.push is None else given.push(run_id),
        )

    async def start_in_thread(
        self,
        owner: str,
        face: str,
        thread_id: str,
        agent: str | None,
        options: RunOptions,
        replaced: str | None = None,
        *,
        task: Task | None = None,
        key: IdempotencyKey | None = None,
        while_running: WhileRunning = "reject",
        push: NewPush | None = None,
    ) -> Accepted:
        """Queue a run without a message in a thread, after its last run or instead of the run `replaced`. It performs
        a task, or records the messages of `options` (`is_record`)."""
        self._check_agent(agent)
        self._admission.check(owner, "".join(str(each.get("content") or "") for each in options.earlier))
        asked = options_as_stored(self._redactor, options)
        task = None if task is None else self.as_stored(task)
        run_id = new_id()
        post = Post(
            owner=owner,
            face=face,
            run_id=run_id,
            lane_key=thread_lane(thread_id),
            thread_id=thread_id,
            agent=agent,
            default_agent=self._default_agent,
            queued=lambda agent: self._draft(RunQueued(agent, task=task, options=asked)),
            has_client_tools=True,
            created_at=self._clock.now_ms(),
            key=key,
            most_queued=self._admission.queued_per_lane,
            push=None if push is None else push(run_id),
        )
        if replaced is not None:
            return await self._announce(owner, await self._store.edit(owner, post, replaced))
        return await self._accept(post, while_running)

    async def start(
        self,
        owner: str,
        face: str,
        agent: str | None,
        external_id: str | None = None,
        key: IdempotencyKey | None = None,
        task: Task | None = None,
    ) -> Accepted:
        """Queue a run without a message, in a separate lane, perhaps with a task. If a run of this owner has the
        `external_id` already, return that run and queue nothing."""
        self._check_agent(agent)
        self._admission.check(owner)
        task = None if task is None else self.as_stored(task)
        run_id = new_id()
        return await self._accept(
            Post(
                owner=owner,
                face=face,
                run_id=run_id,
                lane_key=run_lane(run_id),
                agent=agent,
                default_agent=self._default_agent,
                queued=lambda agent: self._draft(RunQueued(agent, task=task)),
                external_id=cleaned(external_id),
                created_at=self._clock.now_ms(),
                key=key,
            )
        )

    async def start_child(self, parent: Run, run_id: str, agent: str, content: StoredContent, budget: Budget) -> None:
        """Queue a run that `parent` waits for, in a separate lane, unless it was queued before. No limit applies."""
        task = message_task(content, budget)
        await self._accept(
            Post(
                owner=parent.owner,
                face="native",
                run_id=run_id,
                lane_key=run_lane(run_id),
                agent=agent,
                default_agent=self._default_agent,
                queued=lambda agent: self._draft(RunQueued(agent, task=task, parent=parent.id)),
                external_id=f"child:{run_id}",
                created_at=self._clock.now_ms(),
                depth=parent.depth + 1,
                files=task.files,
                parent_run_id=parent.id,
            )
        )

    async def start_plan(
        self, owner: str, face: str, plan: str | None, external_id: str | None, key: IdempotencyKey | None
    ) -> Accepted:
        """Queue a run of this plan, or of the default plan. Raises Invalid if the agent is not a plan."""
        self._check_agent(plan)
        return await self.start(owner, face, checked_plan(self._plans, plan), external_id, key)

    def as_stored(self, task: Task) -> Task:
        """Return the task as its run records it: with redacted inputs and labels."""
        return task_as_stored(self._redactor, task)

    async def _accept(self, post: Post, while_running: WhileRunning = "queue") -> Accepted:
        if while_running != "queue":
            return await self._announce(post.owner, await self._post_while_running(post, while_running))
        result = await self._commit_in_group(post)
        if isinstance(result, RunyardError):
            raise result
        return await self._announce(post.owner, result)

    async def retry(self, owner: str, run_id: str, key: IdempotencyKey | None = None) -> Accepted:
        """Queue a new run with the message or task of a run that has ended."""
        self._admission.check(owner)
        old = await self._store.get_run(owner, run_id)
        asked = await request_of(self._store, old)
        tools, options, task = ([], None, None) if asked is None else (asked.client_tools, asked.options, asked.task)
        post = Post(
            owner=owner,
            face=old.face,
            run_id=new_id(),
            lane_key=old.lane_key,
            thread_id=old.thread_id,
            default_agent=old.agent,
            queued=lambda agent: self._draft(
                RunQueued(agent, old.trigger_message_id, task, client_tools=tools, options=options)
            ),
            has_client_tools=old.has_client_tools,
            files=task.files if task else [],
            created_at=self._clock.now_ms(),
            key=key,
            most_queued=self._admission.queued_per_lane,
        )
        return await self._announce(owner, await self._store.retry(owner, post, run_id))

    async def _commit(self, posts: Sequence[Post]) -> Sequence[Accepted | RunyardError]:
        """Store all posts in one commit. It also claims runs that need not queue, while the worker has slots."""
        if self._worker is None:
            return await self._store.accept(posts)
        with self._worker.reserve_slots(len(posts)) as room:
            return await self._store.accept(posts, room)

    async def _announce(self, owner: str, accepted: Accepted) -> Accepted:
        """Pass `run.queued` to followers, and the run to a worker."""
        if accepted.repeated:
            await check_run_exists(self._store, owner, accepted)
        if accepted.event is not None and not accepted.steered:
            self._tail.add(accepted.run_id, [accepted.event])
            if accepted.thread_id is not None:
                self._tail.threads.wake(accepted.thread_id)
                self._tell_thread(accepted.thread_id)
            if self._worker is not None and accepted.claim is not None:
                self._worker.start_run(accepted.claim)
            else:
                self._wake_workers()
        return accepted

    @property
    def agents(self) -> Sequence[str]:
        """The names of the declared agents that take messages."""
        return sorted(self._agents - set(self._plans))

    def _check_agent(self, agent: str | None) -> None:
        if agent is not None and agent not in self._agents:
            raise Invalid("This server declares no agent with that name.")
        if agent is None and not self._default_agent:
            raise NotFound("This server declares no agent. Declare one in the app.")
