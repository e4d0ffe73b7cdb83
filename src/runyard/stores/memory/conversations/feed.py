"""The feed of conversations: written with its cause, numbered later, filtered for each reader."""

from typing import Any

from msgspec.structs import replace

from runyard.domain.conversations.feed import OF_MESSAGES, Entry, Kind, Window
from runyard.domain.conversations.thread import Message, Role
from runyard.stores.memory.conversations.channels import Conversations


class Feed(Conversations):
    def _tell(self, kind: Kind, message: Message, actor: str, role: Role, **more: Any) -> None:
        thread = self._threads[message.thread_id]
        about: dict[str, Any] = {"thread_id": thread.id, "thread_kind": thread.kind, "message_id": message.id}
        self._feed.append(Entry(no=0, kind=kind, actor=actor, role=role, created_at=self._now(), **about, **more))

    async def number_feed(self, limit: int) -> int:
        new = [n for n, entry in enumerate(self._feed) if entry.no == 0][:limit]
        for n in new:
            self._numbered += 1
            self._feed[n] = replace(self._feed[n], no=self._numbered)
        return self._numbered

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        piece = [entry for entry in self._feed if entry.no > after][:limit]
        seen = [self._shown(entry) for entry in piece if self._is_shown(entry, caller)]
        return Window(seen, piece[-1].no if piece else after)

    def _is_shown(self, entry: Entry, caller: str) -> bool:
        if entry.thread_kind == "chat" or (entry.kind in OF_MESSAGES and entry.message_id not in self._messages):
            return False
        return self._conversation(entry.thread_id).is_seen_by(caller)

    def _shown(self, entry: Entry) -> Entry:
        if entry.kind not in OF_MESSAGES:
            return entry
        return replace(entry, message=self._messages[entry.message_id or ""])

    async def feed_start(self) -> int:
        return self._feed_start
