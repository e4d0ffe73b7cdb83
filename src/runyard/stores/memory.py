"""A store in plain dictionaries: for unit tests, and as the model that the databases are compared with.

No operation waits for anything, so on one event loop each is atomic. What it holds lives as long as the object: `close`
and `open` change nothing. Clarity counts here, not size: most questions are answered by looking at every row.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from runyard.clock import Clock
from runyard.domain.append import END_OF, Appended, Finish, Outcome, Park, Part, Release, judge
from runyard.domain.approval import Approval, ApprovalState
from runyard.domain.branch import Link, affected
from runyard.domain.events import PROGRESS, Draft, Event, place
from runyard.domain.publication import Backlog, Mark
from runyard.domain.run import SUSPECT_ATTEMPTS, ResumeWhy, Run, Status, backoff_ms, fate_of_orphan, thread_lane
from runyard.domain.thread import Message, Thread
from runyard.errors import AlreadyDecided, Conflict, KeyReused, NotFound, QueueFull, RunActive, RunEnded, RunyardError
from runyard.ids import first_id_at
from runyard.store import (
    NO_VERSIONS,
    Accepted,
    Beat,
    Claim,
    Document,
    Ending,
    Excerpt,
    Head,
    Hit,
    IdempotencyKey,
    Overview,
    Post,
    Reaped,
    Room,
    RunFilter,
    Swept,
    Tombstone,
    WorkerRow,
)
from runyard.stores._memory_api_keys import ApiKeys
from runyard.stores._memory_keys import Keys
from runyard.stores._memory_lane import Lane
from runyard.stores._memory_office import MemoryOffice
from runyard.stores._memory_outbox import Outbox
from runyard.stores._memory_retention import Graveyard
from runyard.stores._memory_search import search

Row = TypeVar("Row", Thread, Run, Approval)


class MemoryStore(ApiKeys, MemoryOffice):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._now = clock.now_ms
        self._threads: dict[str, Thread] = {}
        self._messages: dict[str, Message] = {}
        self._runs: dict[str, Run] = {}
        self._events: dict[str, list[Event]] = {}
        self._approvals: dict[str, Approval] = {}
        self._checkpoints: dict[str, bytes] = {}
        self._saved: set[str] = set()
        self._lanes: dict[str, Lane] = {}
        self._workers: dict[str, WorkerRow] = {}
        self._keys = Keys()
        self._outbox = Outbox(clock)
        self._documents: dict[str, list[Document]] = {}
        self._open_office()
        self._graveyard = Graveyard()

    # --- lifecycle -------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def ping(self) -> None:
        pass

    async def overview(self, most: int) -> Overview:
        def count(status: Status) -> int:
            return min(most, sum(run.status is status for run in self._runs.values()))

        ready = [lane.ready_at for lane in self._lanes.values() if lane.has_work]
        behind = [e.ts for run in self._runs.values() for e in self._unpublished(run)[:1]][:most]
        return Overview(
            queued=count(Status.QUEUED),
            ready_since=min(ready, default=None),
            running=count(Status.RUNNING),
            approvals=min(most, sum(approval.state == "pending" for approval in self._approvals.values())),
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

    # --- threads and messages --------------------------------------------------------------------------------------

    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        made = self._keys.recall(key)
        if made is not None:
            return await self.get_thread(thread.owner, made)
        self._threads[thread.id] = thread
        self._keys.remember(key, thread.id, self._now())
        return thread

    async def get_thread(self, owner: str, thread_id: str) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None or thread.owner != owner:
            raise NotFound
        return thread

    async def get_named_thread(self, owner: str, external_id: str) -> Thread:
        for thread in self._threads.values():
            if (thread.owner, thread.external_id) == (owner, external_id):
                return thread
        raise NotFound

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, excerpt: Excerpt | None = None
    ) -> Thread:
        made = self._keys.recall(key)
        if made is not None:
            return await self.get_thread(thread.owner, made)
        run = await self.get_run(thread.owner, run_id)
        if run.thread_id is None:
            raise NotFound
        if excerpt is not None:
            self._copy(excerpt)
        elif not run.status.is_terminal:
            raise RunActive
        head = run_id if excerpt is None else excerpt.run.id
        return await self.create_thread(replace(thread, head_run_id=head, forked_from=run.thread_id), key)

    def _copy(self, excerpt: Excerpt) -> None:
        run = excerpt.run
        if excerpt.message is not None:
            self._messages[excerpt.message.id] = excerpt.message
        pos = self._lanes.setdefault(run.lane_key, Lane()).reserve()
        self._outbox.open(run.id)
        self._write(replace(run, pos=pos, last_seq=0), excerpt.drafts)

    async def list_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        mine = (thread for thread in self._threads.values() if thread.owner == owner and thread.kind == "chat")
        return _page(mine, before, limit)

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        await self.get_thread(owner, thread_id)
        runs = [run.id for run in self._runs.values() if run.thread_id == thread_id]
        if not all(self._runs[run_id].status.is_terminal for run_id in runs):
            raise RunActive
        if any(thread.forked_from == thread_id for thread in self._threads.values()):
            raise Conflict
        for approval in [approval for approval in self._approvals.values() if approval.run_id in runs]:
            del self._approvals[approval.id]
        for run_id in runs:
            del self._runs[run_id], self._events[run_id]
            self._checkpoints.pop(run_id, None)
            self._outbox.drop(run_id)
            self._ledgers.drop(run_id)
        for message in await self.list_messages(thread_id):
            del self._messages[message.id]
        self._close_conversation(thread_id)
        self._lanes.pop(thread_lane(thread_id), None)
        del self._threads[thread_id]

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        return [message for message in self._messages.values() if message.thread_id == thread_id]

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        return {each: self._messages[each] for each in message_ids if each in self._messages}

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        spoken: list[Message] = []
        run = self._parent(self._runs.get(run_id))
        while run is not None and limit > 0:
            spoken[:0] = self._said_in(run)
            run = self._parent(run)
            limit -= 1
        return spoken

    def _parent(self, run: Run | None) -> Run | None:
        return self._runs.get(run.parent_id) if run is not None and run.parent_id is not None else None

    def _said_in(self, run: Run) -> list[Message]:
        question = self._trigger(run)
        answers = [m for m in self._messages.values() if m.role == "assistant" and m.run_id == run.id]
        return ([question] if question else []) + answers

    def _trigger(self, run: Run) -> Message | None:
        return self._messages.get(run.trigger_message_id) if run.trigger_message_id is not None else None

    # --- intake ----------------------------------------------------------------------------------------------------

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        places = room.places if room is not None and self._is_alive(room.worker_id) else 0
        results: list[Accepted | RunyardError] = []
        for post in posts:
            result = self._accept(post)
            if room is not None and places and isinstance(result, Accepted) and self._is_alone(result):
                run = self._runs[result.run_id]
                result = replace(result, claim=self._take(run, room.worker_id, room.versions.get(run.agent)))
                places -= 1
            results.append(result)
        return results

    def _is_alone(self, accepted: Accepted) -> bool:
        """Whether a run that was just queued has its lane to itself."""
        lane = self._lanes[self._runs[accepted.run_id].lane_key] if not accepted.repeated else None
        return lane is not None and lane.has_work and len(lane.queue) == 1

    def _accept(self, post: Post) -> Accepted | RunyardError:
        named = self._named(post.owner, post.external_id) if post.external_id is not None else None
        if named is not None:
            return Accepted(named.id, None, repeated=True)
        try:
            made = self._keys.recall(post.key)
        except KeyReused as reused:
            return reused
        if made is not None:
            return Accepted(made, None, repeated=True)
        post = self._with_thread(post)
        thread = self._threads.get(post.thread_id) if post.thread_id is not None else None
        if post.thread_id is not None and (thread is None or thread.owner != post.owner or thread.kind != "chat"):
            return NotFound()
        if self._is_full(post):
            return QueueFull()
        if post.message is not None:
            self._messages[post.message.id] = post.message
        accepted = self._queue(
            post,
            post.agent or (thread.agent if thread else None) or post.default_agent,
            thread_id=post.thread_id,
            trigger_message_id=post.message.id if post.message else None,
            parent_id=thread.head_run_id if thread else None,
        )
        if thread is not None:
            self._threads[thread.id] = replace(thread, head_run_id=post.run_id)
        return accepted

    def _is_full(self, post: Post) -> bool:
        lane = self._lanes.get(post.lane_key)
        return post.most_queued is not None and lane is not None and len(lane.queue) >= post.most_queued

    async def count_queued(self, owner: str, most: int) -> int:
        return min(most, sum(run.owner == owner and run.status is Status.QUEUED for run in self._runs.values()))

    def _with_thread(self, post: Post) -> Post:
        """The post in the thread that its client names, which is made if there is none."""
        if post.thread is None:
            return post
        name = (post.thread.owner, post.thread.external_id)
        known = next((t for t in self._threads.values() if (t.owner, t.external_id) == name), None)
        if known is None:
            known = self._threads[post.thread.id] = post.thread
        message = replace(post.message, thread_id=known.id) if post.message is not None else None
        return replace(post, thread_id=known.id, lane_key=thread_lane(known.id), message=message)

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        made = self._keys.recall(post.key)
        if made is not None:
            return Accepted(made, None, repeated=True)
        old = await self.get_run(owner, run_id)
        if not old.status.is_terminal:
            raise RunActive
        if old.superseded_by is not None:
            raise Conflict
        accepted = self._queue(
            post,
            post.agent or old.agent,
            thread_id=old.thread_id,
            trigger_message_id=old.trigger_message_id,
            parent_id=old.parent_id,
            retry_of=old.id,
            depth=old.depth,
        )
        self._supersede([old.id], post.run_id)
        thread = self._threads.get(old.thread_id) if old.thread_id is not None else None
        if thread is not None and thread.head_run_id == old.id:
            self._threads[thread.id] = replace(thread, head_run_id=post.run_id)
        return accepted

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        made = self._keys.recall(post.key)
        if made is not None:
            return Accepted(made, None, repeated=True)
        old = await self.get_run(owner, run_id)
        if old.thread_id is None or old.thread_id != post.thread_id:
            raise NotFound
        if old.superseded_by is not None:
            raise Conflict
        inside = (run for run in self._runs.values() if run.thread_id == old.thread_id)
        aside = affected((Link(r.id, r.parent_id, r.status, r.superseded_by) for r in inside), old.id)
        if not all(link.status.is_terminal for link in aside):
            raise RunActive
        if post.message is not None:
            self._messages[post.message.id] = post.message
        accepted = self._queue(
            post,
            post.agent or old.agent,
            thread_id=old.thread_id,
            trigger_message_id=post.message.id if post.message else None,
            parent_id=old.parent_id,
        )
        self._supersede([link.id for link in aside], post.run_id)
        self._threads[old.thread_id] = replace(self._threads[old.thread_id], head_run_id=post.run_id)
        return accepted

    def _supersede(self, run_ids: Sequence[str], by: str) -> None:
        for run_id in run_ids:
            self._change(self._runs[run_id], superseded_by=by)
            self._saved.discard(run_id)

    async def forget_keys(self, older_than_ms: int) -> None:
        self._keys.forget(made_before=self._now() - older_than_ms)

    def _queue(self, post: Post, agent: str, **origin: Any) -> Accepted:
        """A new run with its first event, at the end of its lane."""
        first = post.queued(agent)
        lane = self._lanes.setdefault(post.lane_key, Lane())
        if post.after_run is not None:
            self._pauses[post.run_id] = post.pause_ms
        run = Run(
            id=post.run_id,
            owner=post.owner,
            face=post.face,
            lane_key=post.lane_key,
            pos=lane.join(post.run_id, self._now()) if post.after_run is None else lane.reserve(),
            agent=agent,
            status=Status.QUEUED,
            created_at=post.created_at,
            external_id=post.external_id,
            held=post.after_run is not None,
            after_run=post.after_run,
            **{"depth": post.depth, **origin},
        )
        self._outbox.open(run.id)
        self._write(run, [first])
        self._keys.remember(post.key, run.id, self._now())
        return Accepted(run.id, self._events[run.id][0])

    # --- workers and claims ----------------------------------------------------------------------------------------

    async def register(self, worker_id: str, label: str, ttl_ms: int) -> None:
        now = self._now()
        self._workers[worker_id] = WorkerRow(worker_id, label, lease_until=now + ttl_ms, started_at=now)

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        if not self._is_alive(worker_id):
            return Beat(alive=False)
        self._workers[worker_id] = replace(self._workers[worker_id], lease_until=self._now() + ttl_ms)
        return Beat(alive=True, holds=[run for run in self._runs.values() if run.worker_id == worker_id])

    async def cancels(self, worker_id: str) -> Sequence[str]:
        mine = (run for run in self._runs.values() if run.worker_id == worker_id)
        return sorted(run.id for run in mine if run.cancel_requested_at is not None)

    async def list_workers(self) -> Sequence[WorkerRow]:
        held = Counter(run.worker_id for run in self._runs.values() if run.status is Status.RUNNING)
        return [replace(worker, runs=held[worker.id]) for _, worker in sorted(self._workers.items())]

    async def retire(self, worker_id: str) -> None:
        self._workers.pop(worker_id, None)

    def _is_alive(self, worker_id: str) -> bool:
        return worker_id in self._workers and self._workers[worker_id].lease_until > self._now()

    async def claim(
        self, worker_id: str, limit: int, suspects: bool, versions: Mapping[str, str] = NO_VERSIONS
    ) -> Sequence[Claim]:
        claims: list[Claim] = []
        if not self._is_alive(worker_id):
            return claims
        now = self._now()
        ready = sorted((lane.ready_at, key) for key, lane in self._lanes.items() if lane.is_ready(now))
        for _, key in ready:
            if len(claims) >= limit:
                break
            run = self._runs[self._lanes[key].first]
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

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        lost = sorted((run for run in self._runs.values() if self._is_lost(run)), key=lambda run: run.id)
        reaped = [self._reap(run, max_attempts, ending) for run in lost[:limit]]
        at_work = {run.worker_id for run in self._runs.values()}
        for worker_id in [each for each in self._workers if each not in at_work and not self._is_alive(each)]:
            del self._workers[worker_id]
        return reaped

    def _is_lost(self, run: Run) -> bool:
        """Runs are lost with their worker; and one whose worker is deaf to a cancel, at the deadline."""
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

    # --- runs that nobody follows ----------------------------------------------------------------------------------

    async def detach(self, run_id: str, grace_ms: int) -> None:
        run = self._runs.get(run_id)
        if run is not None and self._may_be_left(run):
            self._change(run, detach_deadline=self._now() + grace_ms)

    def _may_be_left(self, run: Run) -> bool:
        return run.status in (Status.QUEUED, Status.RUNNING) and run.cancel_requested_at is None

    async def attach(self, run_ids: Sequence[str]) -> None:
        for run in [self._runs[run_id] for run_id in run_ids if run_id in self._runs]:
            self._change(run, detach_deadline=None)

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        due = [run for run in self._runs.values() if run.detach_deadline is not None and self._may_be_left(run)]
        due = [run for run in due if run.detach_deadline is not None and run.detach_deadline <= self._now()]
        return [await self.cancel(run.owner, run.id, grace_ms, ending) for run in sorted(due, key=_age)[:limit]]

    # --- the log ---------------------------------------------------------------------------------------------------

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        return [self._append(part) for part in parts]

    def _append(self, part: Part) -> Outcome:
        run = self._runs.get(part.run_id)
        outcome = judge(part, run, decided=isinstance(part.move, Park) and self._any_decided(part.move))
        if run is None or not isinstance(outcome, Appended):
            return outcome
        self._approvals.update({approval.id: approval for approval in part.approvals})
        if part.ledger is not None:
            self._ledgers.add(part.ledger)
        attempts = 0 if part.makes_progress else run.attempts
        asked = run.asked + len(part.approvals)
        run = self._write(run, part.drafts, last_batch=part.batch, attempts=attempts, asked=asked)
        match part.move:
            case Finish() as move:
                self._finish(run, move)
            case Park() as move:
                self._park(run, move)
            case Release() as move:
                self._release(run, move)
            case None:
                return outcome
        return replace(outcome, lane_ready=self._lanes[run.lane_key].has_work)

    def _any_decided(self, move: Park) -> bool:
        known = [self._approvals[approval_id] for approval_id in move.approvals if approval_id in self._approvals]
        return any(approval.state != "pending" for approval in known)

    def _finish(self, run: Run, move: Finish) -> None:
        if move.answer is not None:
            self._messages[move.answer.id] = move.answer
        self._end(run, move)

    def _park(self, run: Run, move: Park) -> None:
        at_rest = {"worker_id": None, "detach_deadline": None}
        self._change(run, status=Status.WAITING, fence=run.fence + 1, attempts=0, **at_rest)
        if not move.hold:
            self._lanes[run.lane_key].free(run, self._now())
        self._pass_turn(run)

    def _release(self, run: Run, move: Release) -> None:
        self._requeue(run, "drain", move.delay_ms, attempts=max(0, run.attempts - 1))

    async def tend(self) -> None:
        pass

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        return [event for event in self._events.get(run_id, ()) if event.seq > after][:limit]

    async def heads(self, run_ids: Sequence[str]) -> Mapping[str, Head]:
        return {run_id: self._head(self._runs[run_id]) for run_id in run_ids if run_id in self._runs}

    def _head(self, run: Run) -> Head:
        detached = run.detach_deadline is not None
        return Head(run.last_seq, run.status.is_terminal, self._outbox.published(run.id), detached)

    # --- publication -----------------------------------------------------------------------------------------------

    async def unpublished(self, quiet_ms: int, limit: int) -> Sequence[Backlog]:
        return self._outbox.backlog(self._runs, quiet_ms)[:limit]

    async def publish(self, marks: Sequence[Mark]) -> None:
        for mark in marks:
            self._outbox.advance(mark)
            run = self._runs.get(mark.run_id)
            if run is not None and mark.state is not None and run.state == "started":
                self._change(run, state=mark.state)

    # --- runs, cancel, approvals -----------------------------------------------------------------------------------

    async def get_run(self, owner: str, run_id: str) -> Run:
        run = self._runs.get(run_id)
        if run is None or run.owner != owner:
            raise NotFound
        return run

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        run = self._named(owner, external_id)
        if run is None:
            raise NotFound
        return run

    def _named(self, owner: str, external_id: str) -> Run | None:
        mine = (run for run in self._runs.values() if run.owner == owner)
        return next((run for run in mine if run.external_id == external_id), None)

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        fitting = (run for run in self._runs.values() if all(getattr(run, name) == where[name] for name in where))
        return _page((run for run in fitting if run.owner == owner), before, limit)

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        run = await self.get_run(owner, run_id)
        if run.status.is_terminal or run.cancel_requested_at is not None:
            return run
        now = self._now()
        self._outbox.reopen(run.id)
        if run.status is Status.RUNNING:
            return self._change(run, cancel_requested_at=now, cancel_deadline=now + grace_ms)
        ended = self._give_up(run, "cancel", ending)
        if run.status is Status.QUEUED and not run.held:
            self._lanes[run.lane_key].leave(run)
        return ended

    async def get_approval(self, owner: str, approval_id: str) -> Approval:
        approval = self._approvals.get(approval_id)
        if approval is None or self._runs[approval.run_id].owner != owner:
            raise NotFound
        return approval

    async def list_approvals(
        self, owner: str, before: str | None, limit: int, run_id: str | None = None
    ) -> Sequence[Approval]:
        pending = (a for a in self._approvals.values() if a.state == "pending" and run_id in (None, a.run_id))
        return _page((a for a in pending if self._runs[a.run_id].owner == owner), before, limit)

    async def decide(
        self, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
    ) -> Approval:
        approval = await self.get_approval(owner, approval_id)
        if approval.state != "pending":
            raise RunEnded if approval.state == "void" else AlreadyDecided
        return self._decide(approval, state, by, event)

    async def expire(self, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
        pending = [a for a in self._approvals.values() if a.state == "pending" and a.expires_at is not None]
        late = [a for a in pending if a.expires_at is not None and a.expires_at <= self._now()][:limit]
        return [self._decide(approval, "expired", None, event(approval)) for approval in late]

    def _decide(self, approval: Approval, state: ApprovalState, by: str | None, event: Draft) -> Approval:
        decided = replace(approval, state=state, decided_by=by, decided_at=self._now())
        self._approvals[approval.id] = decided
        run = self._runs[approval.run_id]
        self._outbox.reopen(run.id)
        run = self._write(run, [event], attempts=0 if event.type in PROGRESS else run.attempts)
        if run.status is Status.WAITING:
            self._requeue(run, "decision")
        return decided

    # --- checkpoints -----------------------------------------------------------------------------------------------

    async def unsaved(self, limit: int) -> Sequence[Run]:
        ended = [run for run in self._runs.values() if run.face == "chats" and run.status.is_terminal]
        due = [run for run in ended if run.id not in self._saved]
        return sorted(due, key=lambda run: run.finished_at or 0)[:limit]

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        now = self._runs.get(run.id)
        if now is None or now.superseded_by != run.superseded_by:
            return False
        self._saved.add(run.id)
        if data is not None and run.thread_id is not None:
            self._checkpoints[run.id] = data
        return True

    async def checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        found = sorted(each for each in self._checkpoints if self._runs[each].thread_id == thread_id)
        return {each: self._checkpoints[each] for each in found if run_id in (None, each)}

    # --- retention -------------------------------------------------------------------------------------------------

    async def sweep(self, horizon: int, after: str | None, limit: int) -> Swept:
        old = [run for run in self._runs.values() if (after or "") < run.id < first_id_at(horizon)]
        old = sorted(old, key=lambda run: run.id)[:limit]
        alone = [run for run in old if run.thread_id is None or run.in_mailbox]
        dropped = [run for run in alone if _ended_before(run, horizon) and not self._is_waited_for(run)]
        for thread_id in {run.thread_id for run in old if run.thread_id is not None and not run.in_mailbox}:
            members = [run for run in self._runs.values() if run.thread_id == thread_id]
            forks = any(thread.forked_from == thread_id for thread in self._threads.values())
            if not forks and all(_ended_before(run, horizon) for run in members):
                dropped += members
                await self.delete_thread(members[0].owner, thread_id)
        for run in dropped:
            self._graveyard.bury(run, self._now())
            if run.id in self._runs:
                self._drop_run(run)
        return Swept(len(old), len(dropped), old[-1].id if len(old) == limit else None)

    def _drop_run(self, run: Run) -> None:
        for approval in [approval for approval in self._approvals.values() if approval.run_id == run.id]:
            del self._approvals[approval.id]
        del self._runs[run.id], self._events[run.id]
        self._outbox.drop(run.id)
        self._ledgers.drop(run.id)
        if run.thread_id is None and run.superseded_by is None:
            del self._lanes[run.lane_key]

    async def drop_logs(self, horizon: int, tombstones: int) -> int:
        self._graveyard.forget(tombstones)
        return 0

    async def get_tombstone(self, owner: str, run_id: str) -> Tombstone:
        return self._graveyard.find(owner, run_id)

    # --- search ----------------------------------------------------------------------------------------------------

    async def put_documents(self, collection: str, documents: Sequence[Document]) -> None:
        self._documents[collection] = list(documents)

    async def get_documents(self, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
        every = ((name, each) for name, documents in self._documents.items() for each in documents)
        return sorted(
            ((name, each) for name, each in every if each.id in ids), key=lambda named: (named[1].id, named[0])
        )

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        return search(self._documents.get(collection, ()), query)[:limit]

    # --- what operations have in common ----------------------------------------------------------------------------

    def _change(self, run: Run, **changes: Any) -> Run:
        changed = self._runs[run.id] = replace(run, **changes)
        return changed

    def _write(self, run: Run, drafts: Sequence[Draft], **changes: Any) -> Run:
        """The next events of a run's log, and what else changes with them."""
        self._events.setdefault(run.id, []).extend(place(run.id, run.last_seq + 1, drafts))
        return self._change(run, last_seq=run.last_seq + len(drafts), **changes)

    def _requeue(self, run: Run, why: ResumeWhy, delay_ms: int = 0, **changes: Any) -> None:
        self._lanes[run.lane_key].rejoin(run, self._now() + delay_ms)
        fence = run.fence + 1
        self._change(run, status=Status.QUEUED, resume_why=why, fence=fence, worker_id=None, **changes)

    def _give_up(self, run: Run, fate: Literal["poison", "cancel"], ending: Ending) -> Run:
        """End a run that no worker will end."""
        return self._end(self._write(run, ending(run, fate), fence=run.fence + 1), END_OF[fate])

    def _end(self, run: Run, finish: Finish) -> Run:
        for approval in [a for a in self._approvals.values() if a.run_id == run.id and a.state == "pending"]:
            self._approvals[approval.id] = replace(approval, state="void")
        self._lanes[run.lane_key].free(run, self._now())
        self._pass_turn(run)
        self._ledgers.close(run.id, self._now())
        if run.started_at is not None:
            self._tell_of(run, "agent_done")
        return self._change(
            run,
            status=finish.status,
            stop_reason=finish.stop_reason,
            error_code=finish.error_code,
            error=finish.error,
            usage=finish.usage,
            worker_id=None,
            finished_at=self._now(),
        )


def _ended_before(run: Run, horizon: int) -> bool:
    return run.finished_at is not None and run.finished_at < horizon


def _age(run: Run) -> int:
    return run.detach_deadline or 0


def _page(rows: Iterable[Row], before: str | None, limit: int) -> list[Row]:
    """Newest first: ids sort by time."""
    fitting = (row for row in rows if before is None or row.id < before)
    return sorted(fitting, key=lambda row: row.id, reverse=True)[:limit]
