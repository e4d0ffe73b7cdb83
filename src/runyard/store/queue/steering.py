"""Steering: messages for a thread whose run has not ended."""

from collections.abc import Callable, Sequence
from typing import Protocol

from runyard.domain.conversations.thread import Message
from runyard.domain.events import Draft
from runyard.store.queue.intake import Accepted, Post, Room
from runyard.store.runs.runs import Ending


class SteeringStore(Protocol):
    """The active run of a thread is the one that holds its lane (running, or waiting), else the first queued one."""

    async def steer(self, post: Post, received: Callable[[str], Draft], room: Room | None = None) -> Accepted:
        """Store the post's message for the thread's active run, and append the event that `received` makes for it.

        The run's agent takes the message later (`Part.takes`). When the run ends, however it ends, each message that
        was not taken starts a run of its own, in the same transaction: the run that this post describes, with the same
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
