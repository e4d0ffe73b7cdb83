"""Threads and their messages. A thread with an unfinished run or a fork cannot be deleted."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec.structs import replace

from runyard.base.ids import IdKind
from runyard.domain.conversations.search import has_words
from runyard.domain.conversations.thread import Message, Share, Thread
from runyard.domain.runs.run import Run, thread_lane
from runyard.domain.runs.thread_head import ThreadHead
from runyard.domain.wait import FROM_CLIENTS
from runyard.errors import Conflict, NotFound, RunActive, TooMany
from runyard.store import IdempotencyKey, LogCopy, Removal
from runyard.stores.memory.conversations.channels import Conversations
from runyard.stores.memory.rows import page
from runyard.stores.memory.runs.runs import Runs
from runyard.stores.memory.tables.lane import Lane
from runyard.stores.transactions.conversations.threads import MOST_SHARES, NO_SHARE


class Threads(Runs, Conversations):
    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        made = self._keys.recall(key)
        if made is not None:
            return await self.get_thread(thread.owner, made)
        if thread.external_id is not None and any(
            (each.owner, each.external_id) == (thread.owner, thread.external_id) for each in self._threads.values()
        ):
            raise Conflict
        self._threads[thread.id] = thread
        self._keys.remember(key, thread.id, self._now())
        return thread

    async def change_thread(self, owner: str, thread_id: str, metadata: str) -> Thread:
        thread = await self.get_thread(owner, thread_id)
        if thread.kind != "chat":
            raise NotFound
        self._threads[thread_id] = replace(thread, metadata=metadata)
        return self._threads[thread_id]

    async def get_thread(self, owner: str, thread_id: str) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None or thread.owner != owner:
            raise NotFound
        return thread

    async def get_named_thread(self, owner: str, external_id: str) -> Thread:
        thread = self._find(owner, external_id)
        if thread is None:
            raise NotFound
        return thread

    async def get_thread_head(self, owner: str, external_id: str) -> ThreadHead:
        thread = self._find(owner, external_id)
        return ThreadHead(thread, None if thread is None else self._runs.get(thread.head_run_id or ""))

    def _find(self, owner: str, external_id: str) -> Thread | None:
        for thread in self._threads.values():
            if (thread.owner, thread.external_id) == (owner, external_id):
                return thread
        found = self._threads.get(external_id)
        return found if found is not None and (found.owner, found.kind) == (owner, "chat") else None

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, log_copy: LogCopy | None = None
    ) -> Thread:
        made = self._keys.recall(key)
        if made is not None:
            return await self.get_thread(thread.owner, made)
        run = await self.get_run(thread.owner, run_id)
        if run.thread_id is None:
            raise NotFound
        if log_copy is not None:
            self._copy(log_copy)
        elif not run.status.is_terminal:
            raise RunActive
        head = run_id if log_copy is None else log_copy.run.id
        return await self.create_thread(replace(thread, head_run_id=head, forked_from=run.thread_id), key)

    def _copy(self, log_copy: LogCopy) -> None:
        run = log_copy.run
        if log_copy.message is not None:
            self._messages[log_copy.message.id] = log_copy.message
        pos = self._lanes.setdefault(run.lane_key, Lane()).reserve()
        self._outbox.open(run.id)
        self._write(replace(run, pos=pos, last_seq=0), log_copy.drafts)

    async def list_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        mine = (thread for thread in self._threads.values() if thread.owner == owner and thread.kind == "chat")
        return page(mine, before, limit)

    async def list_active_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        mine = (thread for thread in self._threads.values() if thread.owner == owner and thread.kind == "chat")
        fitting = [thread for thread in mine if before is None or thread.last_activity < before]
        return sorted(fitting, key=lambda thread: thread.last_activity, reverse=True)[:limit]

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        thread = await self.get_thread(owner, thread_id)
        runs = [run for run in self._runs.values() if run.thread_id == thread_id]
        if not all(run.status.is_terminal for run in runs):
            raise RunActive
        if any(thread.forked_from == thread_id for thread in self._threads.values()):
            raise Conflict
        for run in runs:
            self._drop(run)
        for message in await self.list_messages(thread_id):
            del self._messages[message.id]
        self._close_conversation(thread_id)
        self._sessions = {place: kept for place, kept in self._sessions.items() if place[1] != thread_id}
        self._lanes.pop(thread_lane(thread_id), None)
        self._shares = {each.id: each for each in self._shares.values() if each.thread_id != thread_id}
        del self._threads[thread_id]
        self._removals.append(Removal(thread_id, owner, thread.external_id or thread_id, self._now()))

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        return [message for message in self._messages.values() if message.thread_id == thread_id]

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        return {each: self._messages[each] for each in message_ids if each in self._messages}

    async def set_title(self, owner: str, thread_id: str, title: str) -> None:
        if (await self.get_thread(owner, thread_id)).kind != "chat":
            raise NotFound
        self._titles[thread_id] = title

    async def titles(self, thread_ids: Sequence[str]) -> Mapping[str, str]:
        return {each: self._titles[each] for each in thread_ids if each in self._titles and each in self._threads}

    async def first_messages(self, thread_ids: Sequence[str]) -> Mapping[str, Message]:
        said = {each: await self.list_messages(each) for each in thread_ids}
        return {each: min(found, key=lambda message: message.id) for each, found in said.items() if found}

    async def search_messages(
        self, owner: str, words: Sequence[str], before: str | None, limit: int
    ) -> Sequence[Message]:
        seen = {each.id for each in self._threads.values() if self._is_seen(each, owner)}
        said = [each for each in self._messages.values() if each.thread_id in seen and each.deleted_at is None]
        return page((message for message in said if has_words(message.text, words)), before, limit)

    def _is_seen(self, thread: Thread, caller: str) -> bool:
        is_own = thread.owner == caller
        return is_own or (thread.kind != "chat" and self._conversation(thread.id).is_seen_by(caller))

    async def find_ids(self, owner: str, kind: IdKind, part: str, limit: int) -> Sequence[str]:
        made: list[tuple[int, str]]
        match kind:
            case "run":
                made = [(0, run.id) for run in self._runs.values() if run.owner == owner]
            case "thread":
                made = [(0, each.id) for each in self._threads.values() if (each.owner, each.kind) == (owner, "chat")]
            case "wait":
                waits = [wait for wait in self._waits.values() if wait.kind in FROM_CLIENTS]
                made = [(wait.created_at, wait.id) for wait in waits if self._runs[wait.run_id].owner == owner]
            case never:
                assert_never(never)
        ids = [each for _, each in sorted(made, reverse=True)]
        starts = [each for each in ids if each.startswith(part) or each.partition("_")[2].startswith(part)]
        return [each for each in ids if each in starts or each.endswith(part)][:limit]

    async def search_titles(self, owner: str, words: Sequence[str], limit: int) -> Mapping[str, str]:
        mine = [each.id for each in self._threads.values() if (each.owner, each.kind) == (owner, "chat")]
        found = {each: title for each, title in (await self.titles(mine)).items() if has_words(title, words)}
        return {each: found[each] for each in sorted(found, reverse=True)[:limit]}

    async def create_share(self, share: Share, valid_ms: int, most: int) -> Share:
        now = self._now()
        self._shares = {each.id: each for each in self._shares.values() if each.expires_at > now}
        if len(await self.list_shares(share.owner, share.thread_id)) >= most:
            raise TooMany(MOST_SHARES)
        if (await self.get_thread(share.owner, share.thread_id)).kind != "chat":
            raise NotFound
        made = self._shares[share.id] = replace(share, created_at=now, expires_at=now + valid_ms)
        return made

    async def list_shares(self, owner: str, thread_id: str) -> Sequence[Share]:
        mine = [each for each in self._live_shares() if (each.owner, each.thread_id) == (owner, thread_id)]
        return sorted(mine, key=lambda share: share.id, reverse=True)

    async def find_share(self, digest: str) -> Share:
        for share in self._live_shares():
            if share.digest == digest:
                return share
        raise NotFound(NO_SHARE)

    async def drop_share(self, owner: str, thread_id: str, share_id: str) -> None:
        share = self._shares.get(share_id)
        if share is None or (share.owner, share.thread_id) != (owner, thread_id):
            raise NotFound(NO_SHARE)
        del self._shares[share_id]

    def _live_shares(self) -> list[Share]:
        return [share for share in self._shares.values() if share.expires_at > self._now()]

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        spoken: list[Message] = []
        run = self._parent(self._runs.get(run_id))
        while run is not None and limit > 0:
            spoken[:0] = self._said_in(run)
            run = self._parent(run)
            limit -= 1
        return spoken

    def _parent(self, run: Run | None) -> Run | None:
        return self._runs.get(run.parent_id) if run is not None and run.parent_id is not None else None

    def _said_in(self, run: Run) -> list[Message]:
        question = self._trigger(run)
        said = [m for m in self._messages.values() if m.run_id == run.id and m is not question]
        return ([question] if question else []) + sorted(said, key=lambda m: m.role, reverse=True)
