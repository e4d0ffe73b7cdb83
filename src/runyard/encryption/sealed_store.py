"""A store that seals content (`seals.py`) before the store below stores it, and opens it for callers.

It changes only content: event data, messages, inputs of waits, delivered events, errors of runs, checkpoints, the
ledger, files, and the memory of agents. Names of channels, topics, personas, labels of blocks and reactions stay plain.
Without a key a process has no sealed store, and encryption costs nothing.

`UNSEALED` lists the operations without content. An operation must be there or be defined here: a test checks that.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.append import Outcome, Part
from runyard.domain.events import Draft, Event
from runyard.domain.feed import Window
from runyard.domain.file import StoredFile
from runyard.domain.ledger import Ledger
from runyard.domain.memory import Block, Passage
from runyard.domain.push import Push
from runyard.domain.run import Run
from runyard.domain.thread import Message, Thread
from runyard.domain.wait import KeptEvent, Wait, WaitStatus
from runyard.encryption.cipher import KeyRing
from runyard.encryption.seals import Seals
from runyard.errors import RunyardError, Sealed
from runyard.store import (
    NO_VERSIONS,
    Accepted,
    AgentFilter,
    Beat,
    Claim,
    Ending,
    Excerpt,
    IdempotencyKey,
    NewMessage,
    Post,
    PostedMessage,
    Reaped,
    Room,
    RunFilter,
    Snapshot,
    Store,
)

UNSEALED = (
    *("open", "close", "ping", "check_disk", "maintain", "overview", "end_stuck_sessions"),
    *("create_thread", "change_thread", "get_thread", "get_named_thread", "list_threads", "delete_thread"),
    *("count_queued", "forget_keys", "take_call", "forget_calls", "forget_events"),
    *("register", "retire", "list_workers", "ready_runs", "runs_to_cancel", "detach", "attach"),
    *("heads", "unpublished", "publish", "drop_push"),
    *("sweep", "sweep_messages", "drop_feed", "drop_logs", "get_tombstone", "removals", "forget_removals"),
    *("create_api_key", "get_api_key", "list_api_keys", "revoke_api_key", "touch_api_keys"),
    *("put_documents", "get_documents", "search"),  # documents are part of an app's source
    *("open_channel", "open_dm", "get_conversation", "list_conversations"),
    *("change_channel", "add_member", "remove_member", "react", "remove_reaction", "reactions", "mark_read", "unread"),
    *("release_held_runs", "recover_held_runs", "number_feed", "feed_start"),
    *("declare_agents", "create_agent", "get_agent", "find_agent", "list_agents", "change_agent"),
    *("session", "save_session", "drop_block", "link_block", "unlink_block", "drop_passage"),
    *("usage_by_day", "run_groups", "holding_runs"),
    *("begin_upload", "drop_upload", "sweep_files", "dropped_contents", "forget_content"),
)


def seal_store(store: Store, ring: KeyRing) -> Store:
    """Return a store that seals content with the ring's first key before `store` stores it."""
    return SealedStore(store, ring)  # type: ignore[abstract]  # the constructor sets the operations of UNSEALED


class SealedStore(Store):
    def __init__(self, store: Store, ring: KeyRing) -> None:
        self._store = store
        self._seals = Seals(ring)
        for name in UNSEALED:
            setattr(self, name, getattr(store, name))

    # --- threads and messages

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

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, excerpt: Excerpt | None = None
    ) -> Thread:
        sealed = None if excerpt is None else self._seals.seal_excerpt(excerpt)
        return await self._store.fork_thread(thread, run_id, key, sealed)

    # --- intake

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        results = await self._store.accept([self._seals.seal_post(post) for post in posts], room)
        return [one if isinstance(one, RunyardError) else self._seals.open_accepted(one) for one in results]

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        return self._seals.open_accepted(await self._store.retry(owner, self._seals.seal_post(post), run_id))

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        return self._seals.open_accepted(await self._store.edit(owner, self._seals.seal_post(post), run_id))

    # --- steering

    async def steer(self, post: Post, received: Callable[[str], Draft], room: Room | None = None) -> Accepted:
        def sealed(run_id: str) -> Draft:
            return self._seals.seal_draft(run_id, received(run_id))

        return self._seals.open_accepted(await self._store.steer(self._seals.seal_post(post), sealed, room))

    async def interrupt(self, post: Post, grace_ms: int, ending: Ending, room: Room | None = None) -> Accepted:
        sealed = self._seals.seal_ending(ending)
        accepted = await self._store.interrupt(self._seals.seal_post(post), grace_ms, sealed, room)
        return self._seals.open_accepted(accepted)

    async def accept_if_idle(self, post: Post, room: Room | None = None) -> Accepted:
        return self._seals.open_accepted(await self._store.accept_if_idle(self._seals.seal_post(post), room))

    async def new_messages(self, run_id: str) -> Sequence[Message]:
        return [self._seals.open_message(kept) for kept in await self._store.new_messages(run_id)]

    # --- workers and claims

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        beat = await self._store.heartbeat(worker_id, ttl_ms)
        return replace(beat, holds=[self._seals.open_run(run) for run in beat.holds])

    async def claim(
        self,
        worker_id: str,
        limit: int,
        suspects: bool,
        versions: Mapping[str, str] = NO_VERSIONS,
        agents: AgentFilter | None = None,
    ) -> Sequence[Claim]:
        claims = await self._store.claim(worker_id, limit, suspects, versions, agents)
        return [self._seals.open_claim(claim) for claim in claims]

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        return await self._store.reap(limit, max_attempts, self._seals.seal_ending(ending))

    # --- the log

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        return await self._store.append([self._seals.seal_part(part) for part in parts])

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        return [self._seals.open_event(event) for event in await self._store.read(run_id, after, limit)]

    # --- runs

    async def get_run(self, owner: str, run_id: str) -> Run:
        return self._seals.open_run(await self._store.get_run(owner, run_id))

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        return self._seals.open_run(await self._store.get_named_run(owner, external_id))

    async def get_runs(self, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
        found = await self._store.get_runs(owner, run_ids)
        return {run_id: self._seals.open_run(run) for run_id, run in found.items()}

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.list_runs(owner, where, before, limit)]

    async def list_ended_runs(
        self, owner: str, where: RunFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.list_ended_runs(owner, where, before, limit)]

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        sealed = self._seals.seal_ending(ending)
        return self._seals.open_run(await self._store.cancel(owner, run_id, grace_ms, sealed))

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        canceled = await self._store.abandon(limit, grace_ms, self._seals.seal_ending(ending))
        return [self._seals.open_run(run) for run in canceled]

    # --- waits

    async def get_wait(self, owner: str | None, wait_id: str) -> Wait:
        return self._seals.open_wait(await self._store.get_wait(owner, wait_id))

    async def list_waits(self, owner: str, before: str | None, limit: int, run_id: str | None = None) -> Sequence[Wait]:
        return [self._seals.open_wait(wait) for wait in await self._store.list_waits(owner, before, limit, run_id)]

    async def answer(
        self,
        owner: str | None,
        wait_id: str,
        state: WaitStatus,
        by: str,
        event: Draft,
        taken: KeptEvent | None = None,
    ) -> Wait:
        run_id = (await self._store.get_wait(owner, wait_id)).run_id
        sealed = self._seals.seal_draft(run_id, event)
        return self._seals.open_wait(await self._store.answer(owner, wait_id, state, by, sealed, taken))

    async def expire(
        self, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> tuple[Sequence[Wait], int | None]:
        expired, due_in = await self._store.expire(limit, self._seals.seal_expiry(event))
        return [self._seals.open_wait(wait) for wait in expired], due_in

    async def ended_children(self, limit: int, child: str | None = None) -> Sequence[tuple[str, Run]]:
        found = await self._store.ended_children(limit, child)
        return [(wait_id, self._seals.open_run(run)) for wait_id, run in found]

    async def orphaned_children(self, limit: int, parent: str | None = None) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.orphaned_children(limit, parent)]

    async def keep_event(self, event: KeptEvent, keep_ms: int) -> bool:
        return await self._store.keep_event(self._seals.seal_kept_event(event), keep_ms)

    async def matched_events(self, limit: int, target: str | None = None) -> Sequence[tuple[Wait, KeptEvent]]:
        found = await self._store.matched_events(limit, target)
        return [(self._seals.open_wait(wait), self._seals.open_kept_event(event)) for wait, event in found]

    # --- pushes

    async def put_push(self, push: Push, most: int, *, at_end: bool) -> Push:
        return self._seals.open_push(await self._store.put_push(self._seals.seal_push(push), most, at_end=at_end))

    async def list_pushes(self, run_id: str) -> Sequence[Push]:
        return [self._seals.open_push(kept) for kept in await self._store.list_pushes(run_id)]

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        claimed, is_live = await self._store.claim_pushes(limit, lease_ms, run_ids)
        return [self._seals.open_push(kept) for kept in claimed], is_live

    async def settle_push(self, push: Push, wait_ms: int | None) -> Push | None:
        kept = await self._store.settle_push(push, wait_ms)
        return None if kept is None else self._seals.open_push(kept)

    # --- checkpoints

    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.runs_without_checkpoint(limit)]

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        return await self._store.save_checkpoint(
            run, None if data is None else self._seals.seal_checkpoint(run.id, data)
        )

    async def read_checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        kept = await self._store.read_checkpoints(thread_id, run_id)
        return {key: self._seals.open_checkpoint(key, data) for key, data in kept.items()}

    # --- snapshots

    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        await self._store.save_snapshot(run_id, kind, self._seals.seal_snapshot(run_id, kind, snapshot))

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        """Return None for a snapshot that does not open: it can be made again from the log."""
        kept = await self._store.snapshot(run_id, kind, upto)
        return None if kept is None else self._seals.open_snapshot(run_id, kind, kept)

    # --- files

    async def write_chunk(self, content_id: str, no: int, data: bytes | None) -> None:
        sealed = None if data is None else self._seals.seal_chunk(content_id, no, data)
        await self._store.write_chunk(content_id, no, sealed)

    async def finish_upload(self, file: StoredFile, digest: str, run_id: str | None = None) -> StoredFile:
        sealed, keyed = self._seals.seal_file(file), self._seals.digest(file.owner, digest)
        return self._seals.open_file(await self._store.finish_upload(sealed, keyed, run_id))

    async def get_file(self, owner: str, file_id: str) -> StoredFile:
        return self._seals.open_file(await self._store.get_file(owner, file_id))

    async def read_chunk(self, content_id: str, no: int) -> bytes | None:
        kept = await self._store.read_chunk(content_id, no)
        return None if kept is None else self._seals.open_chunk(content_id, no, kept)

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

    # --- the memory of agents

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        return [self._seals.open_block(kept) for kept in await self._store.blocks(agent, owner)]

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        return self._seals.open_block(await self._store.put_block(self._seals.seal_block(block), is_shared))

    async def put_passage(self, passage: Passage) -> Passage:
        return self._seals.open_passage(await self._store.put_passage(self._seals.seal_passage(passage)))

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        return [self._seals.open_passage(kept) for kept in await self._store.passages(agent, owner, before, limit)]

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        """Refuse to search: sealed passages are in no index."""
        raise Sealed("Passages are encrypted (RUNYARD_ENCRYPTION_KEYS) and cannot be searched. List them instead.")

    # --- the ledger

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.mailbox_runs(owner, agent, before, limit)]

    async def read_ledger(self, run_id: str) -> Ledger:
        return self._seals.open_ledger(await self._store.read_ledger(run_id))
