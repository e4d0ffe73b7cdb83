"""The calls of the client about conversations: threads, channels and DMs, and their messages."""

from collections.abc import AsyncGenerator
from typing import Literal

from msgspec import Struct

from runyard.client.connection import Connection, given, segment
from runyard.client.pages import PAGE, pages
from runyard.client.wire import ChannelInfo, ChannelMessage, FoundMessage, FoundPage, ThreadInfo, ThreadMessage, read

ThreadOrder = Literal["created", "activity"]


class _ThreadMessages(Struct):
    messages: list[ThreadMessage] = []


class _ChannelMessages(Struct):
    messages: list[ChannelMessage] = []


class ConversationCalls:
    """The part of `Client` that lists, reads and deletes conversations."""

    _connection: Connection

    async def threads(self, *, sort: ThreadOrder = "created") -> AsyncGenerator[ThreadInfo, None]:
        """Return the threads, newest first. Pages are fetched as they are needed.

        Args:
            sort: `"created"`, or `"activity"` for those with the newest run first.

        Example:
            >>> async for thread in client.threads():
            ...     print(thread.title)
            ...     break
            Ada
        """
        async for page in pages(self._connection, "/api/threads", {"sort": sort}, PAGE):
            for thread in page.threads:
                yield thread

    async def thread_messages(self, thread_id: str, limit: int = PAGE) -> list[ThreadMessage]:
        """Return the newest messages of a thread, oldest first.

        Args:
            thread_id: The id of the thread.
            limit: The largest number of messages.

        Example:
            >>> [message.content for message in await client.thread_messages(thread_id)]
            ['Ada', 'Hello Ada']
        """
        path = f"/api/threads/{segment(thread_id)}"
        return read(await self._connection.send("GET", path, params={"limit": limit}), _ThreadMessages).messages

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its messages and runs.

        Args:
            thread_id: The id of the thread.

        Raises:
            RunActive: If a run of the thread has not ended.

        Example:
            >>> await client.delete_thread(thread_id)
        """
        await self._connection.send("DELETE", f"/api/threads/{segment(thread_id)}", repeatable=False)

    async def rename_thread(self, thread_id: str, title: str) -> ThreadInfo:
        """Give a thread a title.

        Args:
            thread_id: The id of the thread.
            title: The title, up to 200 characters.

        Example:
            >>> (await client.rename_thread(thread_id, "Greetings")).title
            'Greetings'
        """
        path, body = f"/api/threads/{segment(thread_id)}", {"title": title}
        return read(await self._connection.send("PATCH", path, body), ThreadInfo)

    async def search(self, query: str, limit: int = PAGE) -> AsyncGenerator[FoundMessage, None]:
        """Return the messages in all threads that have every word of the query, newest first.

        Args:
            query: The words. Each is the beginning of a word of the message.
            limit: The number of messages in a page. Pages are fetched as they are needed.

        Raises:
            Conflict: If the server encrypts messages.

        Example:
            >>> async for found in client.search("hello"):
            ...     print(found.text)
            ...     break
            Hello Ada
        """
        before: str | None = None
        while True:
            asked = {"query": query, "limit": limit, **given({"before": before})}
            page = read(await self._connection.send("GET", "/api/search", params=asked), FoundPage)
            for found in page.messages:
                yield found
            before = page.next
            if before is None:
                return

    async def export_thread(self, thread_id: str, format: Literal["json", "markdown"] = "json") -> str:
        """Return a thread with all its messages, as JSON or Markdown.

        Args:
            thread_id: The id of the thread.
            format: `"json"` or `"markdown"`.

        Example:
            >>> "Hello Ada" in await client.export_thread(thread_id, "markdown")
            True
        """
        path = f"/api/threads/{segment(thread_id)}/export"
        return (await self._connection.send("GET", path, params={"format": format})).decode()

    async def channels(self) -> AsyncGenerator[ChannelInfo, None]:
        """Return the channels that the caller sees, newest first.

        Example:
            >>> [channel.name async for channel in client.channels()]
            ['orders']
        """
        async for page in pages(self._connection, "/api/channels", {}, PAGE):
            for channel in page.channels:
                yield channel

    async def dms(self) -> AsyncGenerator[ChannelInfo, None]:
        """Return the DMs that the caller sees, newest first.

        Example:
            >>> [dm.kind async for dm in client.dms()]
            ['dm']
        """
        async for page in pages(self._connection, "/api/dms", {}, PAGE):
            for dm in page.dms:
                yield dm

    async def channel_messages(
        self, channel: ChannelInfo, limit: int = PAGE, before: str | None = None
    ) -> list[ChannelMessage]:
        """Return the newest messages of a channel or a DM, oldest first.

        Args:
            channel: The channel or the DM.
            limit: The largest number of messages.
            before: Only messages that are older than the one with this id.

        Example:
            >>> async for channel in client.channels():
            ...     print([message.text for message in await client.channel_messages(channel)])
            ['A-17 is paid.']
        """
        place = "dmConversationId" if channel.kind == "dm" else "channelId"
        params = {place: channel.id, "limit": limit, **given({"before": before})}
        return read(await self._connection.send("GET", "/api/messages", params=params), _ChannelMessages).messages

    async def delete_channel(self, channel: ChannelInfo) -> None:
        """Delete a channel or a DM that the caller owns, with its messages and runs.

        Args:
            channel: The channel or the DM.

        Raises:
            RunActive: If a run in it has not ended.

        Example:
            >>> async for channel in client.channels():
            ...     await client.delete_channel(channel)
        """
        kind = "dms" if channel.kind == "dm" else "channels"
        await self._connection.send("DELETE", f"/api/{kind}/{segment(channel.id)}", repeatable=False)
