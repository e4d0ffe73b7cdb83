"""Messages for a thread whose run has not ended. A run that ends starts a run for each message that it leaves."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from runyard.domain.conversations.thread import Message
from runyard.domain.events import Draft
from runyard.domain.runs.run import Run
from runyard.errors import NotFound, QueueFull, RunActive, RunyardError
from runyard.store import Accepted, Ending, Post, Room
from runyard.stores.memory.queue.control import Control
from runyard.stores.memory.queue.intake import Intake
from runyard.stores.memory.rows import SteeredMessage


class Steering(Intake, Control):
    async def steer(self, post: Post, received: Callable[[str], Draft], room: Room | None = None) -> Accepted:
        if (known := self._known_post(post)) is not None:
            return known
        post = self._in_thread(post)
        run = self._active_in(post.lane_key)
        if run is None or run.cancel_requested_at is not None or post.agent not in (None, run.agent):
            return await self._accept_one(post, room)
        if post.most_queued is not None and run.unread >= post.most_queued:
            raise QueueFull
        assert post.message is not None  # it is a post to a thread
        if not self._has_files(post):
            raise NotFound
        self._use_files(post)
        self._messages[post.message.id] = replace(post.message, run_id=run.id)
        first = post.queued(run.agent)
        planned = replace(post, agent=run.agent, queued=lambda agent: first, push=None)
        self._steered[post.message.id] = SteeredMessage(run.id, planned, "new")
        self._keys.remember(post.key, post.run_id, self._now())
        self._outbox.reopen(run.id)
        self._write(run, [received(run.id)], unread=run.unread + 1)
        return Accepted(run.id, self._events[run.id][-1], steered=True)

    async def interrupt(self, post: Post, grace_ms: int, ending: Ending, room: Room | None = None) -> Accepted:
        if (known := self._known_post(post)) is not None:
            return known
        post = self._in_thread(post)
        self._check_room(post)
        if not self._has_files(post):
            raise NotFound
        run = self._active_in(post.lane_key)
        if run is not None:
            run = await self.cancel(run.owner, run.id, grace_ms, ending)
        return replace(await self._accept_one(post, room), interrupted=run)

    async def accept_if_idle(self, post: Post, room: Room | None = None) -> Accepted:
        if (known := self._known_post(post)) is not None:
            return known
        post = self._in_thread(post)
        if self._active_in(post.lane_key) is not None:
            raise RunActive
        return await self._accept_one(post, room)

    async def new_messages(self, run_id: str) -> Sequence[Message]:
        return [self._messages[message_id] for message_id in self._untaken(run_id)]

    def _untaken(self, run_id: str) -> list[str]:
        return [key for key, each in self._steered.items() if each.run_id == run_id and each.state == "new"]

    def _start_left(self, run: Run) -> None:
        for message_id in self._untaken(run.id):
            post = self._steered[message_id].post
            self._steered[message_id] = SteeredMessage(run.id, post, "left")
            self._messages[message_id] = replace(self._messages[message_id], run_id=post.run_id)
            thread = self._threads[post.thread_id or ""]
            self._queue(
                replace(post, key=None),
                post.agent or "",
                thread_id=thread.id,
                trigger_message_id=message_id,
                parent_id=thread.head_run_id,
            )
            self._threads[thread.id] = replace(thread, head_run_id=post.run_id)

    def _known_post(self, post: Post) -> Accepted | None:
        made = self._keys.recall(post.key)
        if made is None:
            return None
        for each in self._steered.values():
            if each.post.run_id == made and each.state != "left":
                return Accepted(each.run_id, None, repeated=True, steered=True)
        return Accepted(made, None, repeated=True)

    def _in_thread(self, post: Post) -> Post:
        post = replace(self._with_thread(post), thread=None)
        thread = self._threads.get(post.thread_id or "")
        if thread is None or thread.owner != post.owner or thread.kind != "chat":
            raise NotFound
        return post

    def _active_in(self, lane_key: str) -> Run | None:
        lane = self._lanes.get(lane_key)
        if lane is None:
            return None
        active = lane.active_run or (lane.first if lane.queue else None)
        return None if active is None else self._runs[active]

    def _check_room(self, post: Post) -> None:
        """Raise QueueFull if the post would not be accepted after the active run is canceled."""
        run, lane = self._active_in(post.lane_key), self._lanes.get(post.lane_key)
        if run is None or lane is None or post.most_queued is None:
            return
        leaves = (run.pos, run.id) in lane.queue
        starts = 0 if lane.active_run == run.id and run.worker_id is not None else run.unread
        if len(lane.queue) - leaves + starts >= post.most_queued:
            raise QueueFull

    async def _accept_one(self, post: Post, room: Room | None) -> Accepted:
        [accepted] = await self.accept([post], room)
        if isinstance(accepted, RunyardError):
            raise accepted
        return accepted
