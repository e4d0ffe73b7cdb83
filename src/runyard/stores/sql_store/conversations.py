"""Threads, channels, their messages and their feed."""

from collections.abc import Mapping, Sequence

from runyard.domain.conversations.thread import Message, Thread
from runyard.store import IdempotencyKey
from runyard.stores.operations import query, transaction
from runyard.stores.sql_store.full_text import FullText
from runyard.stores.transactions.conversations import channels, feed, messages, threads


class ConversationOperations(FullText):
    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        if key is None:
            return await self._write_one("other", threads.create, thread)
        return await self._write("other", threads.create, thread, key)

    change_thread = transaction("other", threads.change)
    get_thread = query(threads.get)
    get_named_thread = query(threads.get_named)
    get_thread_head = query(threads.get_head)
    fork_thread = transaction("other", threads.fork)
    list_threads = query(threads.list_page)
    list_active_threads = query(threads.list_active)
    delete_thread = transaction("other", threads.delete)
    list_messages = query(threads.list_messages)
    get_messages = query(threads.get_messages)
    history = query(threads.history)
    set_title = transaction("other", threads.set_title)
    titles = query(threads.titles)
    first_messages = query(threads.first_messages)
    create_share = transaction("other", threads.create_share)
    list_shares = query(threads.list_shares)
    find_share = query(threads.find_share)
    drop_share = transaction("other", threads.drop_share)

    async def search_messages(
        self, owner: str, words: Sequence[str], before: str | None, limit: int
    ) -> Sequence[Message]:
        return await self._read(threads.search_messages, owner, self._match_all(words), before, limit)

    async def search_titles(self, owner: str, words: Sequence[str], limit: int) -> Mapping[str, str]:
        return await self._read(threads.search_titles, owner, self._match_title(words), limit)

    # --- channels

    open_channel = transaction("other", channels.open_channel)
    open_dm = transaction("other", channels.open_dm)
    get_conversation = query(channels.get)
    list_conversations = query(channels.list_page)
    change_channel = transaction("other", channels.change_channel)
    add_member = transaction("other", channels.add_member)
    remove_member = transaction("other", channels.remove_member)
    post_message = transaction("intake", messages.post_message)
    recent_messages = query(messages.recent)
    get_message = query(messages.get_message)
    change_message = transaction("other", messages.change_message)
    delete_message = transaction("other", messages.delete_message)
    react = transaction("other", messages.react)
    remove_reaction = transaction("other", messages.remove_reaction)
    reactions = query(messages.reactions)

    mark_read = transaction("other", messages.mark_read)
    unread = query(messages.unread)

    # --- the feed

    async def number_feed(self, limit: int) -> int:
        last, has_new = await self._read(feed.unnumbered)
        return await self._write("other", feed.number, limit) if has_new else last

    read_feed = query(feed.read)
    feed_start = query(feed.start)
