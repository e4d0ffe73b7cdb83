"""Channels and DMs: their members, and who may see them. The name of a channel is unique per owner."""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import Change, Conversation, Thread, ThreadKind
from runyard.errors import Conflict, Invalid, NotFound
from runyard.store import IdempotencyKey
from runyard.stores.memory.content.agents import Agents


class Conversations(Agents):
    async def open_channel(
        self, thread: Thread, members: Sequence[Participant], key: IdempotencyKey | None = None
    ) -> Conversation:
        made = self._keys.recall(key)
        if made is not None:
            return await self.get_conversation(thread.owner, made)
        self._check_agents(thread.owner, members)
        if self._named_conversation(thread) is not None:
            raise Conflict
        self._keys.remember(key, thread.id, self._now())
        return self._opened(thread, members)

    async def open_dm(self, thread: Thread, members: Sequence[Participant]) -> Conversation:
        self._check_agents(thread.owner, members)
        known = self._named_conversation(thread)
        return self._opened(thread, members) if known is None else self._conversation(known.id)

    def _opened(self, thread: Thread, members: Sequence[Participant]) -> Conversation:
        self._threads[thread.id] = thread
        self._members[thread.id] = list(dict.fromkeys(members))
        return self._conversation(thread.id)

    def _check_agents(self, owner: str, members: Sequence[Participant]) -> None:
        if not all(self._is_active(party.id, owner) for party in members if party.kind == "agent"):
            raise Invalid

    def _named_conversation(self, thread: Thread) -> Thread | None:
        name = (thread.owner, thread.kind, thread.name)
        known = (each for each in self._threads.values() if (each.owner, each.kind, each.name) == name)
        return next((each for each in known if each.name is not None), None)

    def _conversation(self, thread_id: str) -> Conversation:
        thread = self._threads.get(thread_id)
        if thread is None or thread.kind == "chat":
            raise NotFound
        return Conversation(thread, list(self._members.get(thread_id, ())))

    def _close_conversation(self, thread_id: str) -> None:
        self._members.pop(thread_id, None)
        self._read_positions = {at: read for at, read in self._read_positions.items() if at[0] != thread_id}
        self._reactions = [each for each in self._reactions if each.message_id in self._messages]
        self._feed = [each for each in self._feed if each.thread_id != thread_id]

    async def get_conversation(self, caller: str, thread_id: str) -> Conversation:
        here = self._conversation(thread_id)
        if not here.is_seen_by(caller):
            raise NotFound
        return here

    async def list_conversations(
        self, caller: str, kind: ThreadKind, before: str | None, limit: int
    ) -> Sequence[Conversation]:
        found = [self._conversation(thread.id) for thread in self._threads.values() if thread.kind == kind != "chat"]
        seen = [here for here in found if here.is_seen_by(caller) and (before is None or here.thread.id < before)]
        return sorted(seen, key=lambda here: here.thread.id, reverse=True)[:limit]

    async def change_channel(self, owner: str, thread_id: str, change: Change) -> Conversation:
        thread = self._own_channel(owner, thread_id)
        changes = {name: value for name in change.__struct_fields__ if (value := getattr(change, name)) is not None}
        changed = replace(thread, **changes)
        known = self._named_conversation(changed)
        if known is not None and known.id != thread_id:
            raise Conflict
        self._threads[thread_id] = changed
        return self._conversation(thread_id)

    def _own_channel(self, owner: str, thread_id: str) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None or thread.owner != owner or thread.kind != "channel":
            raise NotFound
        return thread

    async def add_member(self, owner: str, thread_id: str, party: Participant) -> Conversation:
        self._own_channel(owner, thread_id)
        self._check_agents(owner, [party])
        if party not in self._members[thread_id]:
            self._members[thread_id].append(party)
        return self._conversation(thread_id)

    async def remove_member(self, owner: str, thread_id: str, party: Participant) -> Conversation:
        self._own_channel(owner, thread_id)
        if party not in self._members[thread_id]:
            raise NotFound
        self._members[thread_id].remove(party)
        return self._conversation(thread_id)
