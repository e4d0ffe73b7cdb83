"""Sealed threads, channels, messages and feed."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.conversations.feed import Window
from runyard.domain.conversations.thread import Message, Thread
from runyard.domain.runs.thread_head import ThreadHead
from runyard.encryption.sealed_store.sealing import Sealing
from runyard.errors import Sealed
from runyard.store import IdempotencyKey, LogCopy, NewMessage, Post, PostedMessage


class SealedConversations(Sealing):
    async def get_thread_head(self, owner: str, external_id: str) -> ThreadHead:
        head = await self._store.get_thread_head(owner, external_id)
        return head if head.run is None else replace(head, run=self._seals.open_run(head.run))

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        return [self._seals.open_message(kept) for kept in await self._store.list_messages(thread_id)]

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        found = await self._store.get_messages(message_ids)
        return {key: self._seals.open_message(kept) for key, kept in found.items()}

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        return [self._seals.open_message(kept) for kept in await self._store.history(run_id, limit)]

    async def set_title(self, owner: str, thread_id: str, title: str) -> None:
        await self._store.set_title(owner, thread_id, self._seals.seal_title(thread_id, title))

    async def titles(self, thread_ids: Sequence[str]) -> Mapping[str, str]:
        found = await self._store.titles(thread_ids)
        return {each: self._seals.open_title(each, kept) for each, kept in found.items()}

    async def first_messages(self, thread_ids: Sequence[str]) -> Mapping[str, Message]:
        found = await self._store.first_messages(thread_ids)
        return {each: self._seals.open_message(kept) for each, kept in found.items()}

    async def search_messages(
        self, owner: str, words: Sequence[str], before: str | None, limit: int
    ) -> Sequence[Message]:
        """Refuse to search: sealed messages are in no index."""
        raise Sealed("Messages are encrypted (RUNYARD_ENCRYPTION_KEYS) and cannot be searched.")

    async def search_titles(self, owner: str, words: Sequence[str], limit: int) -> Mapping[str, str]:
        """Refuse to search: the database cannot read sealed titles."""
        raise Sealed("Titles are encrypted (RUNYARD_ENCRYPTION_KEYS) and cannot be searched.")

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, log_copy: LogCopy | None = None
    ) -> Thread:
        sealed = None if log_copy is None else self._seals.seal_log_copy(log_copy)
        return await self._store.fork_thread(thread, run_id, key, sealed)

    # --- channels

    async def post_message(self, new: NewMessage) -> PostedMessage:
        def wake(agent: str, owner: str, before: str | None) -> Post:
            return self._seals.seal_post(new.wake(agent, owner, before))

        sealed = replace(new, message=self._seals.seal_message(new.message), wake=wake)
        posted = await self._store.post_message(sealed)
        return replace(
            posted,
            message=self._seals.open_message(posted.message),
            started=[self._seals.open_accepted(accepted) for accepted in posted.started] or (),
        )

    async def recent_messages(
        self, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> Sequence[Message]:
        found = await self._store.recent_messages(thread_id, before, limit, parent_id)
        return [self._seals.open_message(kept) for kept in found]

    async def get_message(self, caller: str, message_id: str) -> Message:
        return self._seals.open_message(await self._store.get_message(caller, message_id))

    async def change_message(self, caller: str, message_id: str, text: str) -> Message:
        sealed = self._seals.seal_text(message_id, text)
        return self._seals.open_message(await self._store.change_message(caller, message_id, sealed))

    async def delete_message(self, caller: str, message_id: str, text: str) -> None:
        await self._store.delete_message(caller, message_id, self._seals.seal_text(message_id, text))

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        window = await self._store.read_feed(caller, after, limit)
        return Window([self._seals.open_entry(entry) for entry in window.entries], window.upto)
