"""Posts to a thread whose run has not ended: the client says what happens to both.

`queue`: the message starts a run after it. `steer`: the run gets the message and continues. `interrupt`: the run is
canceled, and the next one answers both messages. `reject`: the post is refused.

Authority: the store decides under the lane's lock whether a run is active. The worker that executes the run learns of a
message from its next commit; `expect_message` only tells it sooner.
"""

from typing import TYPE_CHECKING, Literal, assert_never

from runyard.domain.conversations.thread import Message
from runyard.domain.events import Drafter, MessageReceived
from runyard.engine.log.tail import Tail
from runyard.errors import Unavailable
from runyard.store import Accepted, Post, Room, SteeringStore
from runyard.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from runyard.engine.control.cancel import Cancel
    from runyard.engine.running.worker import Worker

WhileRunning = Literal["queue", "steer", "interrupt", "reject"]


class PostsWhileRunning:
    def __init__(
        self,
        store: SteeringStore,
        tail: Tail,
        draft: Drafter,
        worker: "Worker | None",
        cancel: "Cancel | None",
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._tail = tail
        self._draft = draft
        self._worker = worker
        self._cancel = cancel
        self._metrics = metrics

    async def __call__(self, post: Post, while_running: Literal["steer", "interrupt", "reject"]) -> Accepted:
        """Store the post in one transaction. The caller announces the run that it starts."""
        if self._worker is None:
            return await self._stored(post, while_running, None)
        with self._worker.reserve_slots(1) as room:
            return await self._stored(post, while_running, room)

    async def _stored(
        self, post: Post, while_running: Literal["steer", "interrupt", "reject"], room: Room | None
    ) -> Accepted:
        match while_running:
            case "steer":
                return await self._steer(post, room)
            case "interrupt":
                return await self._interrupt(post, room)
            case "reject":
                return await self._store.accept_if_idle(post, room)
            case never:
                assert_never(never)

    async def _steer(self, post: Post, room: Room | None) -> Accepted:
        message = post.message
        assert isinstance(message, Message)  # it is a post to a thread
        event = self._draft(MessageReceived(message.id, message.text, message.content))
        accepted = await self._store.steer(post, lambda run_id: event, room)
        if accepted.steered and not accepted.repeated:
            self._metrics.events_persisted(1)
            self._tail.mark_stale(accepted.run_id)
            if self._worker is not None:
                self._worker.expect_message(accepted.run_id)
        return accepted

    async def _interrupt(self, post: Post, room: Room | None) -> Accepted:
        if self._cancel is None:
            raise Unavailable("This process cannot cancel runs.")
        ending = self._cancel.new_ending()
        accepted = await self._store.interrupt(post, self._cancel.grace_ms, ending, room)
        if accepted.interrupted is not None:
            await self._cancel.announce(accepted.interrupted, ending)
        return accepted
