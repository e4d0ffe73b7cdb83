"""The calls of the client about conversations: threads, channels and DMs, and their messages."""

from collections.abc import AsyncGenerator
from urllib.parse import quote

from msgspec import Struct

from runyard.client.connection import Connection
from runyard.client.pages import PAGE, pages
from runyard.client.wire import ChannelInfo, ChannelMessage, ThreadInfo, ThreadMessage, read


class _ThreadMessages(Struct):
    messages: list[ThreadMessage] = []


class _ChannelMessages(Struct):
    messages: list[ChannelMessage] = []


class ConversationCalls:
    """The part of `Client` that lists, reads and deletes conversations."""

    _connection: Connection

    async def threads(self) -> AsyncGenerator[ThreadInfo, None]:
        """Return the threads, newest first. Pages are fetched as they are needed."""
        async for page in pages(self._connection, "/api/threads", {}, PAGE):
            for thread in page.threads:
                yield thread

    async def thread_messages(self, thread_id: str, limit: int = PAGE) -> list[ThreadMessage]:
        """Return the newest messages of a thread, oldest first.

        Args:
            thread_id: The id of the thread.
            limit: The largest number of messages.
        """
        path = f"/api/threads/{_id(thread_id)}"
        return read(await self._connection.send("GET", path, params={"limit": limit}), _ThreadMessages).messages

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its messages and runs.

        Args:
            thread_id: The id of the thread.

        Raises:
            RunActive: If a run of the thread has not ended.
        """
        await self._connection.send("DELETE", f"/api/threads/{_id(thread_id)}", repeatable=False)

    async def channels(self) -> AsyncGenerator[ChannelInfo, None]:
        """Return the channels that the caller sees, newest first."""
        async for page in pages(self._connection, "/api/channels", {}, PAGE):
            for channel in page.channels:
                yield channel

    async def dms(self) -> AsyncGenerator[ChannelInfo, None]:
        """Return the DMs that the caller sees, newest first."""
        async for page in pages(self._connection, "/api/dms", {}, PAGE):
            for dm in page.dms:
                yield dm

    async def channel_messages(self, channel: ChannelInfo, limit: int = PAGE) -> list[ChannelMessage]:
        """Return the newest messages of a channel or a DM, oldest first.

        Args:
            channel: The channel or the DM.
            limit: The largest number of messages.
        """
        place = "dmConversationId" if channel.kind == "dm" else "channelId"
        params = {place: channel.id, "limit": limit}
        return read(await self._connection.send("GET", "/api/messages", params=params), _ChannelMessages).messages

    async def delete_channel(self, channel: ChannelInfo) -> None:
        """Delete a channel or a DM that the caller owns, with its messages and runs.

        Args:
            channel: The channel or the DM.

        Raises:
            RunActive: If a run in it has not ended.
        """
        kind = "dms" if channel.kind == "dm" else "channels"
        await self._connection.send("DELETE", f"/api/{kind}/{_id(channel.id)}", repeatable=False)


def _id(text: str) -> str:
    """Return an id as one segment of a path, whatever characters it has."""
    return quote(text, safe="") or "-"
