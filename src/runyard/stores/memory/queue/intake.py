"""Posts become runs, once for each key, each at the end of its lane; retries and edits supersede runs."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from runyard.domain.runs.branch import BranchRun, affected
from runyard.domain.runs.run import Run, Status, thread_lane
from runyard.errors import Conflict, KeyReused, NotFound, QueueFull, RunActive, RunyardError
from runyard.store import Accepted, Post, Room
from runyard.stores.memory.content.files import Files
from runyard.stores.memory.log.pushes import Pushes
from runyard.stores.memory.queue.claims import Claims
from runyard.stores.memory.tables.lane import Lane


class Intake(Claims, Files, Pushes):
    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        places = room.places if room is not None and self._is_alive(room.worker_id) else 0
        results: list[Accepted | RunyardError] = []
        for post in posts:
            result = self._accept(post)
            if room is not None and places and isinstance(result, Accepted) and self._may_take(result, room):
                run = self._runs[result.run_id]
                result = replace(result, claim=self._take(run, room.worker_id, room.versions.get(run.agent)))
                places -= 1
            results.append(result)
        return results

    def _may_take(self, accepted: Accepted, room: Room) -> bool:
        """Return whether a new run is alone in its lane, and of an agent that the worker may run."""
        if accepted.repeated:
            return False
        run = self._runs[accepted.run_id]
        lane = self._lanes[run.lane_key]
        return lane.has_work and len(lane.queue) == 1 and room.allows(run.agent)

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
        if not self._has_files(post):
            return QueueFull() if self._is_full(post) else NotFound("There is no file with that id.")
        post = self._with_thread(post)
        thread = self._threads.get(post.thread_id) if post.thread_id is not None else None
        if post.thread_id is not None and (thread is None or thread.owner != post.owner or thread.kind != "chat"):
            return NotFound()
        if self._is_full(post):
            return QueueFull()
        if post.message is not None:
            self._messages[post.message.id] = post.message
        self._use_files(post)
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

    def _with_thread(self, post: Post) -> Post:
        """Return the post in the thread that its client named, and create the thread if there is none."""
        if post.thread is None:
            return post
        name = (post.thread.owner, post.thread.external_id)
        known = next((t for t in self._threads.values() if (t.owner, t.external_id) == name), None)
        if known is None:
            known = self._threads[post.thread.id] = post.thread
        message = replace(post.message, thread_id=known.id) if post.message is not None else None
        return replace(post, thread_id=known.id, lane_key=thread_lane(known.id), message=message)

    async def count_queued(self, owner: str, most: int) -> int:
        return min(most, sum(run.owner == owner and run.status is Status.QUEUED for run in self._runs.values()))

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        made = self._keys.recall(post.key)
        if made is not None:
            return Accepted(made, None, repeated=True)
        old = await self.get_run(owner, run_id)
        if not old.status.is_terminal:
            raise RunActive
        if old.superseded_by is not None:
            raise Conflict
        if not self._has_files(post):
            raise NotFound
        self._use_files(post)
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
        aside = affected((BranchRun(r.id, r.parent_id, r.status, r.superseded_by) for r in inside), old.id)
        if not all(link.status.is_terminal for link in aside):
            raise RunActive
        if not self._has_files(post):
            raise NotFound
        if post.message is not None:
            self._messages[post.message.id] = post.message
            self._use_files(post)
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
        """Add a run with its first event at the end of its lane."""
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
            parent_run_id=post.parent_run_id,
            has_client_tools=post.has_client_tools,
            **{"depth": post.depth, **origin},
        )
        self._outbox.open(run.id)
        self._write(run, [first])
        self._keys.remember(post.key, run.id, self._now())
        if post.push is not None:
            self._store_push(post.push, 1, at_end=False)
        return Accepted(run.id, self._events[run.id][0], thread_id=run.thread_id)
