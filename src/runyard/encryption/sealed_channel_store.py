"""A sealed store (`sealed.py`) that is a whole office: what is said in conversations and what agents remember is kept
sealed too.

Names stay as they are: of channels, their topics, personas, labels of blocks, reactions. A block is bound to its agent
and its label, because what is written under a label takes the place of what was there. Words of sealed passages are in
no index, so they cannot be searched, and whoever tries is told so.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from runyard.channel_store import ChannelStore, NewMessage, PostedMessage
from runyard.domain.feed import Entry, Window
from runyard.domain.ledger import Ledger, Line
from runyard.domain.memory import Block, Passage
from runyard.domain.run import Run
from runyard.domain.thread import Message
from runyard.encryption.cipher import KeyRing
from runyard.encryption.sealed_store import LINE, LINE_INPUT, TEXT, SealedStore
from runyard.errors import Sealed
from runyard.store import Post

BLOCK, PASSAGE, TAGS = "memory_blocks.content", "passages.content", "passages.tags"


class SealedChannelStore(SealedStore):
    def __init__(self, store: ChannelStore, ring: KeyRing) -> None:
        super().__init__(store, ring)
        self._office = store
        self.open_channel, self.open_dm = store.open_channel, store.open_dm
        self.get_conversation, self.list_conversations = store.get_conversation, store.list_conversations
        self.change_channel, self.add_member, self.remove_member = (
            store.change_channel, store.add_member, store.remove_member,
        )  # fmt: skip
        self.delete_message = store.delete_message
        self.react, self.remove_reaction, self.reactions = store.react, store.remove_reaction, store.reactions
        self.declare_agents, self.create_agent, self.change_agent = (
            store.declare_agents, store.create_agent, store.change_agent,
        )  # fmt: skip
        self.get_agent, self.find_agent, self.list_agents = store.get_agent, store.find_agent, store.list_agents
        self.session, self.keep_session = store.session, store.keep_session
        self.drop_block, self.link_block, self.unlink_block = store.drop_block, store.link_block, store.unlink_block
        self.drop_passage = store.drop_passage
        self.give_turns, self.recover_turns, self.number_feed = (
            store.give_turns, store.recover_turns, store.number_feed,
        )  # fmt: skip
        self.feed_start, self.drop_feed, self.sweep_words = store.feed_start, store.drop_feed, store.sweep_words

        self.usage_by_day, self.holding_runs = store.usage_by_day, store.holding_runs

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        return [self._opened_run(run) for run in await self._office.mailbox_runs(owner, agent, before, limit)]

    async def read_ledger(self, run_id: str) -> Ledger:
        kept = await self._office.read_ledger(run_id)
        return Ledger(kept.steps, [self._opened_line(line) for line in kept.lines])

    def _opened_line(self, kept: Line) -> Line:
        def opened(text: str, place: str) -> str:
            return self._ring.open_text(text, kept.run_id, f"{place} {kept.id}")

        content = opened(kept.content, LINE) if kept.content else ""  # older ones of tool calls are empty
        return replace(kept, content=content, input=None if kept.input is None else opened(kept.input, LINE_INPUT))

    # --- what is said

    async def say(self, words: NewMessage) -> PostedMessage:
        def wake(agent: str, owner: str, before: str | None) -> Post:
            return self._sealed_post(words.wake(agent, owner, before))

        said = await self._office.say(replace(words, message=self._sealed_message(words.message), wake=wake))
        return replace(
            said,
            message=self._opened_message(said.message),
            started=[self._accepted(accepted) for accepted in said.started] or (),
        )

    async def recent_messages(
        self, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> Sequence[Message]:
        found = await self._office.recent_messages(thread_id, before, limit, parent_id)
        return [self._opened_message(said) for said in found]

    async def get_message(self, caller: str, message_id: str) -> Message:
        return self._opened_message(await self._office.get_message(caller, message_id))

    async def change_message(self, caller: str, message_id: str, text: str) -> Message:
        sealed = self._ring.seal_text(text, message_id, TEXT)
        return self._opened_message(await self._office.change_message(caller, message_id, sealed))

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        window = await self._office.read_feed(caller, after, limit)
        return Window([self._opened_entry(entry) for entry in window.entries], window.upto)

    def _opened_entry(self, entry: Entry) -> Entry:
        return entry if entry.message is None else replace(entry, message=self._opened_message(entry.message))

    # --- memory

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        return [self._opened_block(block) for block in await self._office.blocks(agent, owner)]

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        content = self._ring.seal_text(block.content, block.agent, f"{BLOCK} {block.label}")
        return self._opened_block(await self._office.put_block(replace(block, content=content), is_shared))

    def _opened_block(self, kept: Block) -> Block:
        return replace(kept, content=self._ring.open_text(kept.content, kept.agent, f"{BLOCK} {kept.label}"))

    async def put_passage(self, passage: Passage) -> Passage:
        seal, tags = self._ring.seal_text, passage.tags
        if tags:
            tags = [seal(msgspec.json.encode(tags).decode(), passage.id, TAGS)]
        sealed = replace(passage, content=seal(passage.content, passage.id, PASSAGE), tags=tags)
        return self._opened_passage(await self._office.put_passage(sealed))

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        return [self._opened_passage(kept) for kept in await self._office.passages(agent, owner, before, limit)]

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        raise Sealed("What agents put away is sealed here (RUNYARD_ENCRYPTION_KEYS), and cannot be searched.")

    def _opened_passage(self, kept: Passage) -> Passage:
        content = self._ring.open_text(kept.content, kept.id, PASSAGE)
        return replace(kept, content=content, tags=opened_tags(self._ring, kept.id, kept.tags))


def opened_tags(ring: KeyRing, passage_id: str, kept: Sequence[str]) -> Sequence[str]:
    """Open the tags of a passage. Sealed they are one text, which holds all of them; none are stored as they are."""
    if len(kept) > 1:
        ring.refuse_plain()
    if len(kept) != 1:
        return kept
    plain = ring.open_text(kept[0], passage_id, TAGS)
    return kept if plain is kept[0] else msgspec.json.decode(plain, type=list[str])
