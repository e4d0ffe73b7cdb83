"""What the two SQL stores share of `ChannelStore`: every operation as a transaction script."""

from collections.abc import Mapping, Sequence

from runyard.channel_store import NewMessage, PostedMessage
from runyard.domain.feed import Window
from runyard.domain.ledger import Day, Ledger
from runyard.domain.memory import Block, Passage
from runyard.domain.profile import Profile
from runyard.domain.recipients import Party
from runyard.domain.run import Run
from runyard.domain.thread import Change, Conversation, Message, Reaction, Thread, ThreadKind
from runyard.store import IdempotencyKey, Swept
from runyard.stores.sql_store import SqlStore
from runyard.stores.transactions import (
    agents,
    feed,
    ledger,
    retention,
    search,
)
from runyard.stores.transactions import (
    channels as office,
)
from runyard.stores.transactions import (
    reply_order as turns,
)


class SqlChannelStore(SqlStore):
    # --- conversations

    async def open_channel(
        self, thread: Thread, members: Sequence[Party], key: IdempotencyKey | None = None
    ) -> Conversation:
        return await self._write("other", office.open_channel, thread, members, key)

    async def open_dm(self, thread: Thread, members: Sequence[Party]) -> Conversation:
        return await self._write("other", office.open_dm, thread, members)

    async def get_conversation(self, caller: str, thread_id: str) -> Conversation:
        return await self._read(office.get, caller, thread_id)

    async def list_conversations(
        self, caller: str, kind: ThreadKind, before: str | None, limit: int
    ) -> Sequence[Conversation]:
        return await self._read(office.list_page, caller, kind, before, limit)

    async def change_channel(self, owner: str, thread_id: str, change: Change) -> Conversation:
        return await self._write("other", office.change, owner, thread_id, change)

    async def add_member(self, owner: str, thread_id: str, party: Party) -> Conversation:
        return await self._write("other", office.add_member, owner, thread_id, party)

    async def remove_member(self, owner: str, thread_id: str, party: Party) -> Conversation:
        return await self._write("other", office.remove_member, owner, thread_id, party)

    # --- what is said

    async def say(self, words: NewMessage) -> PostedMessage:
        return await self._write("intake", office.say, words)

    async def recent_messages(
        self, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> Sequence[Message]:
        return await self._read(office.recent, thread_id, before, limit, parent_id)

    async def get_message(self, caller: str, message_id: str) -> Message:
        return await self._read(office.get_message, caller, message_id)

    async def change_message(self, caller: str, message_id: str, text: str) -> Message:
        return await self._write("other", office.change_message, caller, message_id, text)

    async def delete_message(self, caller: str, message_id: str) -> None:
        await self._write("other", office.delete_message, caller, message_id)

    async def react(self, caller: str, reaction: Reaction) -> bool:
        return await self._write("other", office.react, caller, reaction)

    async def remove_reaction(self, caller: str, reaction: Reaction) -> None:
        await self._write("other", office.remove_reaction, caller, reaction)

    async def reactions(self, message_ids: Sequence[str]) -> Mapping[str, Sequence[Reaction]]:
        return await self._read(office.reactions, message_ids)

    # --- agents

    async def declare_agents(self, profiles: Sequence[Profile]) -> None:
        if profiles:
            await self._write("other", agents.declare, profiles)

    async def create_agent(self, profile: Profile) -> Profile:
        return await self._write("other", agents.create, profile)

    async def get_agent(self, caller: str, agent: str) -> Profile:
        return await self._read(agents.get, caller, agent)

    async def find_agent(self, agent: str) -> Profile | None:
        return await self._read(agents.find, agent)

    async def list_agents(
        self, caller: str, after: str | None, limit: int, inactive: bool = False
    ) -> Sequence[Profile]:
        return await self._read(agents.list_page, caller, after, limit, inactive)

    async def change_agent(self, caller: str, profile: Profile) -> Profile:
        return await self._write("other", agents.change, caller, profile)

    async def session(self, agent: str, thread_id: str) -> str | None:
        return await self._read(agents.session, agent, thread_id)

    async def keep_session(self, agent: str, thread_id: str, session_id: str) -> None:
        await self._write("other", agents.keep_session, agent, thread_id, session_id)

    # --- memory

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        return await self._read(agents.blocks, agent, owner)

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        return await self._write("other", agents.put_block, block, is_shared)

    async def drop_block(self, agent: str, owner: str, label: str) -> None:
        await self._write("other", agents.drop_block, agent, owner, label)

    async def link_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        await self._write("other", agents.link_block, agent, owner, label, reader, reader_owner)

    async def unlink_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        await self._write("other", agents.unlink_block, agent, owner, label, reader, reader_owner)

    async def put_passage(self, passage: Passage) -> Passage:
        return await self._write("other", agents.put_passage, passage)

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        return await self._read(agents.passages, agent, owner, before, limit)

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        text = query.strip()
        if not text:
            return []
        return await self._read(agents.find_passages, agent, owner, self._match(search.words_of(text)), text, limit)

    async def drop_passage(self, agent: str, owner: str, passage_id: str) -> None:
        await self._write("other", agents.drop_passage, agent, owner, passage_id)

    # --- the ledger

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        return await self._read(ledger.runs, owner, agent, before, limit)

    async def holding_runs(self, run_ids: Sequence[str]) -> frozenset[str]:
        return await self._read(ledger.holding, run_ids)

    async def read_ledger(self, run_id: str) -> Ledger:
        return await self._read(ledger.read, run_id)

    async def usage_by_day(self, owner: str, agent: str, limit: int) -> Sequence[Day]:
        return await self._read(ledger.usage, owner, agent, limit)

    # --- turns and the feed

    async def give_turns(self, limit: int) -> tuple[int, int | None]:
        due_in = await self._read(turns.due_in)
        if due_in is None or due_in > 0:
            return 0, due_in  # mostly so: and then nobody is disturbed
        return await self._write("other", turns.give, limit)

    async def recover_turns(self) -> None:
        await self._write("other", turns.recover)

    async def number_feed(self, limit: int) -> int:
        last, news = await self._read(feed.news)
        return await self._write("other", feed.number, limit) if news else last

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        return await self._read(feed.read, caller, after, limit)

    async def feed_start(self) -> int:
        return await self._read(feed.start)

    # --- retention

    async def sweep_words(self, horizon: int, after: str | None, limit: int) -> Swept:
        return await self._write("other", retention.sweep_words, horizon, after, limit)

    async def drop_feed(self, horizon: int, limit: int) -> int:
        return await self._write("other", retention.drop_feed, horizon, limit)
