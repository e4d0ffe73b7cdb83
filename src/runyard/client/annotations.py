"""The calls of the client about what people add to conversations: feedback, links for readers, read positions."""

from typing import Literal

from msgspec import Struct

from runyard.client.annotation_wire import ShareInfo, UnreadInfo
from runyard.client.connection import Connection, given, segment
from runyard.client.wire import ChannelInfo, FeedbackInfo, read


class _Feedback(Struct):
    feedback: FeedbackInfo | None = None


class _Given(Struct):
    feedback: FeedbackInfo


class _Shares(Struct):
    shares: list[ShareInfo] = []


class _Unread(Struct):
    conversations: list[UnreadInfo] = []


class AnnotationCalls:
    """The part of `Client` for feedback on runs, links to threads, and read positions of channels."""

    _connection: Connection

    async def feedback(self, run_id: str) -> FeedbackInfo | None:
        """Return the feedback on a run, or None.

        Args:
            run_id: The id of the run.

        Example:
            >>> await client.feedback(run_id) is None
            True
        """
        return read(await self._connection.send("GET", f"/api/runs/{segment(run_id)}/feedback"), _Feedback).feedback

    async def give_feedback(
        self, run_id: str, value: Literal["up", "down"], comment: str | None = None
    ) -> FeedbackInfo:
        """Say whether a run's answer was good. Replaces earlier feedback.

        Args:
            run_id: The id of the run.
            value: `"up"` or `"down"`.
            comment: The reason, up to 4,000 characters.

        Example:
            >>> (await client.give_feedback(run_id, "up", "A kind answer.")).value
            'up'
        """
        path, body = f"/api/runs/{segment(run_id)}/feedback", given({"value": value, "comment": comment})
        return read(await self._connection.send("PUT", path, body), _Given).feedback

    async def delete_feedback(self, run_id: str) -> None:
        """Delete the feedback on a run, if there is one.

        Args:
            run_id: The id of the run.

        Example:
            >>> await client.delete_feedback(run_id)
        """
        await self._connection.send("DELETE", f"/api/runs/{segment(run_id)}/feedback")

    async def share_thread(self, thread_id: str, days: int = 7) -> ShareInfo:
        """Create a link that shows the messages of a thread to readers without a key. Only this response has its token.

        Args:
            thread_id: The id of the thread.
            days: How long the link is valid: 1 to 30 days.

        Raises:
            Conflict: If sharing is off on the server.

        Example:
            >>> share = await client.share_thread(thread_id, days=1)
            >>> share.path is None
            False
        """
        path = f"/api/threads/{segment(thread_id)}/shares"
        return read(await self._connection.send("POST", path, {"days": days}, repeatable=False), ShareInfo)

    async def shares(self, thread_id: str) -> list[ShareInfo]:
        """Return the links to a thread that are valid, newest first.

        Args:
            thread_id: The id of the thread.

        Example:
            >>> await client.shares(thread_id)
            []
        """
        return read(await self._connection.send("GET", f"/api/threads/{segment(thread_id)}/shares"), _Shares).shares

    async def revoke_share(self, thread_id: str, share_id: str) -> None:
        """Revoke a link to a thread.

        Args:
            thread_id: The id of the thread.
            share_id: The id of the link.

        Example:
            >>> share = await client.share_thread(thread_id)
            >>> await client.revoke_share(thread_id, share.share_id)
        """
        path = f"/api/threads/{segment(thread_id)}/shares/{segment(share_id)}"
        await self._connection.send("DELETE", path, repeatable=False)

    async def unread(self) -> list[UnreadInfo]:
        """Return how far the caller has read the newest 200 channels and DMs.

        Example:
            >>> [place.unread for place in await client.unread()]
            [0]
        """
        return read(await self._connection.send("GET", "/api/unread"), _Unread).conversations

    async def mark_read(self, channel: ChannelInfo, message_id: str) -> None:
        """Store that the caller has read a channel or a DM up to a message.

        Args:
            channel: The channel or the DM.
            message_id: The id of the message.

        Example:
            >>> async for channel in client.channels():
            ...     messages = await client.channel_messages(channel)
            ...     await client.mark_read(channel, messages[-1].id)
        """
        kind = "dms" if channel.kind == "dm" else "channels"
        path = f"/api/{kind}/{segment(channel.id)}/read"
        await self._connection.send("PUT", path, {"messageId": message_id})
