"""The part of the local client for threads, channels, agents and what agents remember."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from runyard.cli.clients.local_rows import (
    agent_info,
    block_info,
    channel_info,
    found_message,
    passage_info,
    thread_info,
)
from runyard.client.wire import (
    AgentInfo,
    BlockInfo,
    ChannelInfo,
    ChannelMessage,
    FoundMessage,
    PassageInfo,
    ThreadInfo,
    ThreadMessage,
)
from runyard.domain.content.memory import EVERY_OWNER
from runyard.domain.events import clean
from runyard.domain.times import iso
from runyard.engine.queries.views import checked_id
from runyard.errors import NotFound

if TYPE_CHECKING:
    from runyard.client.conversations import ThreadOrder
    from runyard.domain.api_key import Scope
    from runyard.domain.conversations.thread import ThreadKind
    from runyard.engine.queries.thread_search import ThreadSearch
    from runyard.engine.queries.views import Views
    from runyard.settings import Settings
    from runyard.store import Store

PAGE = 100
Row = TypeVar("Row")


async def all_rows(
    read: Callable[[str | None], Awaitable[Sequence[Row]]],
    page: int,
    id_of: Callable[[Row], str],
    before: str | None = None,
) -> AsyncGenerator[Row, None]:
    """Yield the rows of all pages below the id `before`."""
    while True:
        rows = await read(before)
        for row in rows:
            yield row
        if len(rows) < page:
            return
        before = id_of(rows[-1])


class LocalConversations:
    """A shared agent has one memory for all owners. Only the app knows which agents are shared, and an agent is either
    shared or not, so the owner's memory and the memory for all owners are read together."""

    _store: "Store"
    _views: "Views"
    _settings: "Settings"

    def _owner(self, scope: "Scope") -> str:
        raise NotImplementedError

    async def threads(self, *, sort: "ThreadOrder" = "created") -> AsyncGenerator[ThreadInfo, None]:
        owner = self._owner("read")
        before: str | None = None
        while True:
            read = self._views.active_threads if sort == "activity" else self._views.threads
            page = await read(owner, before, PAGE)
            titles = await self._thread_search().titles([thread.id for thread in page])
            for thread in page:
                yield thread_info(thread, titles.get(thread.id))
            if len(page) < PAGE:
                return
            before = page[-1].last_activity if sort == "activity" else page[-1].id

    async def rename_thread(self, thread_id: str, title: str) -> ThreadInfo:
        thread = await self._thread_search().rename(self._owner("write"), thread_id, title)
        return thread_info(thread, (await self._thread_search().titles([thread.id])).get(thread.id))

    async def search(self, query: str, limit: int = PAGE) -> AsyncGenerator[FoundMessage, None]:
        owner, before = self._owner("read"), None
        while True:
            page = await self._thread_search().search(owner, query, before, limit)
            for hit in page.hits:
                yield found_message(hit)
            if page.next is None:
                return
            before = page.next

    async def export_thread(self, thread_id: str, format: Literal["json", "markdown"] = "json") -> str:
        from runyard.engine.queries.thread_search import as_markdown

        found = await self._thread_search().exported(self._owner("read"), thread_id)
        return as_markdown(found) if format == "markdown" else msgspec.json.encode(found).decode()

    def _thread_search(self) -> "ThreadSearch":
        from runyard.engine.queries.thread_search import ThreadSearch

        return ThreadSearch(self._store, self._settings.redactor)

    async def thread_messages(self, thread_id: str, limit: int = PAGE) -> list[ThreadMessage]:
        thread = await self._views.thread(self._owner("read"), thread_id)
        return [
            ThreadMessage(id=each.id, role=each.role, content=each.text, created_at=iso(each.created_at) or "")
            for each in await self._views.messages(thread, None, limit)
        ]

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread. The next server removes its files from the disk."""
        await self._views.delete_thread(self._owner("write"), thread_id)

    def channels(self) -> AsyncGenerator[ChannelInfo, None]:
        return self._conversations("channel")

    def dms(self) -> AsyncGenerator[ChannelInfo, None]:
        return self._conversations("dm")

    async def _conversations(self, kind: "ThreadKind") -> AsyncGenerator[ChannelInfo, None]:
        owner = self._owner("read")

        async def read(before: str | None) -> Sequence[Any]:
            return await self._store.list_conversations(owner, kind, before, PAGE)

        async for here in all_rows(read, PAGE, lambda here: str(here.thread.id)):
            yield channel_info(here)

    async def channel_messages(
        self, channel: ChannelInfo, limit: int = PAGE, before: str | None = None
    ) -> list[ChannelMessage]:
        here = await self._store.get_conversation(self._owner("read"), checked_id(channel.id, "conversation"))
        return [
            ChannelMessage(
                id=each.id,
                user_id=each.sender or "",
                text=each.text,
                created_at=iso(each.created_at) or "",
                is_agent=each.role == "assistant",
                parent_message_id=each.parent_id,
            )
            for each in await self._store.recent_messages(here.thread.id, before, limit)
        ]

    async def delete_channel(self, channel: ChannelInfo) -> None:
        owner = self._owner("write")
        await self._store.get_conversation(owner, checked_id(channel.id, "conversation"))
        await self._store.delete_thread(owner, channel.id)

    async def agents(self, *, inactive: bool = False) -> AsyncGenerator[AgentInfo, None]:
        owner = self._owner("read")

        async def read(after: str | None) -> Sequence[Any]:
            return await self._store.list_agents(owner, after, PAGE, inactive)

        async for profile in all_rows(read, PAGE, lambda profile: str(profile.id)):
            yield agent_info(profile)

    async def agent_names(self) -> list[str]:
        """Return the names of all active agents. Only the app knows which of them answer messages."""
        return [agent.id async for agent in self.agents()]

    async def agent(self, agent_id: str) -> AgentInfo:
        return agent_info(await self._store.get_agent(self._owner("read"), clean(agent_id)))

    async def deactivate_agent(self, agent_id: str) -> None:
        from msgspec.structs import replace

        owner = self._owner("write")
        profile = await self._store.get_agent(owner, clean(agent_id))
        if profile.owner is None:
            self._owner("operate")
        await self._store.change_agent(owner, replace(profile, is_active=False))

    async def memory_blocks(self, agent_id: str) -> list[BlockInfo]:
        agent, owner = (await self.agent(agent_id)).id, self._owner("read")
        found = [block for each in (owner, EVERY_OWNER) for block in await self._store.blocks(agent, each)]
        return [block_info(block) for block in found]

    async def passages(
        self, agent_id: str, query: str | None = None, limit: int = PAGE, before: str | None = None
    ) -> list[PassageInfo]:
        agent, owner = (await self.agent(agent_id)).id, self._owner("read")
        found: list[Any] = []
        for each in (owner, EVERY_OWNER):
            if query is None:
                found += await self._store.passages(agent, each, before, limit)
            else:
                found += await self._store.find_passages(agent, each, clean(query), limit)
        if query is None:  # a client asks for the next page by the last id of this page
            found.sort(key=lambda passage: str(passage.id), reverse=True)
        return [passage_info(passage) for passage in found[:limit]]

    async def delete_block(self, agent_id: str, label: str) -> None:
        owner = self._owner("write")
        agent = (await self.agent(agent_id)).id
        try:
            await self._store.drop_block(agent, owner, clean(label))
        except NotFound:
            await self._store.drop_block(agent, EVERY_OWNER, clean(label))

    async def delete_passage(self, agent_id: str, passage_id: str) -> None:
        owner, passage = self._owner("write"), checked_id(passage_id, "passage")
        agent = (await self.agent(agent_id)).id
        try:
            await self._store.drop_passage(agent, owner, passage)
        except NotFound:
            await self._store.drop_passage(agent, EVERY_OWNER, passage)
