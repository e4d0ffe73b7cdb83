"""The store on SQL, common to both databases: every operation of `Store` as a transaction script.

A database adds `_append_fast`, the hot path of the log, for parts that have no move or only end their run.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from runyard.domain.append import Appended, Finish, Outcome, Part
from runyard.domain.document import Hit
from runyard.domain.events import Draft
from runyard.domain.memory import Passage
from runyard.domain.publication import CursorAdvance
from runyard.domain.push import Push
from runyard.domain.run import MAILBOX
from runyard.domain.thread import Message, Thread
from runyard.domain.wait import Wait, WaitStatus
from runyard.errors import QueueFull, RunyardError
from runyard.store import Accepted, IdempotencyKey, Post, Room
from runyard.stores.full_disk import FullDisk
from runyard.stores.operations import Transactions, query, statement, transaction
from runyard.stores.transactions import (
    agents,
    api_keys,
    channels,
    checkpoints,
    claims,
    control,
    documents,
    feed,
    files,
    intake,
    ledger,
    log,
    maintenance,
    memory,
    outbox,
    pushes,
    rate_limits,
    reply_order,
    retention,
    runs,
    snapshots,
    steering,
    threads,
    waits,
)


class WrittenPart(NamedTuple):
    """A part that the hot path wrote after the seq `base`."""

    base: int
    cancel_requested: bool
    lane_ready: bool
    unread: int


class SqlStore(Transactions):
    _full_disk: FullDisk

    async def open(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        raise NotImplementedError

    async def _append_fast(self, parts: Sequence[Part]) -> Mapping[int, WrittenPart]:
        """Write parts that have no move or a Finish. Parts that are missing from the result were not written."""
        raise NotImplementedError

    def _match_any(self, words: Sequence[str]) -> str:
        """Return a full-text query that matches any of these words."""
        raise NotImplementedError

    def _match_all(self, words: Sequence[str]) -> str:
        """Return a full-text query that matches texts which have a word with each of these beginnings."""
        raise NotImplementedError

    async def scrub(self) -> None:
        """Remove traces of replaced values from the database file. Does nothing on a database server."""

    async def ping(self) -> None:
        await self._read(log.heads, [])

    async def check_disk(self) -> None:
        self._full_disk.check()

    maintain = transaction("other", maintenance.maintain)
    overview = query(maintenance.overview)
    end_stuck_sessions = query(maintenance.end_stuck_sessions)

    # --- threads and messages

    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        if key is None:
            return await self._write_one("other", threads.create, thread)
        return await self._write("other", threads.create, thread, key)

    change_thread = transaction("other", threads.change)
    get_thread = query(threads.get)
    get_named_thread = query(threads.get_named)
    fork_thread = transaction("other", threads.fork)
    list_threads = query(threads.list_page)
    delete_thread = transaction("other", threads.delete)
    list_messages = query(threads.list_messages)
    get_messages = query(threads.get_messages)
    history = query(threads.history)
    set_title = transaction("other", threads.set_title)
    titles = query(threads.titles)
    first_messages = query(threads.first_messages)

    async def search_messages(
        self, owner: str, words: Sequence[str], before: str | None, limit: int
    ) -> Sequence[Message]:
        return await self._read(threads.search_messages, owner, self._match_all(words), before, limit)

    # --- intake

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        results: dict[int, Accepted | RunyardError] = {}
        left = list(range(len(posts)))
        while left:
            try:
                accepted = await self._write("intake", intake.accept, [posts[n] for n in left], room)
            except intake.ThreadsMissing as missing:
                lost = [left[n] for n in missing.posts if posts[left[n]].thread is None]
                results |= {n: intake.not_found() for n in lost}
                left = [n for n in left if n not in lost]  # a post that creates its thread creates a deleted one again
            except files.FilesMissing as missing:
                lost = [n for n in left if posts[n].run_id in missing.runs]
                results |= {n: files.not_found() for n in lost}
                left = [n for n in left if n not in lost]
            except intake.LanesFull as full:
                lost = [left[n] for n in full.posts]
                results |= {n: QueueFull() for n in lost}
                left = [n for n in left if n not in lost]
            else:
                results |= dict(zip(left, accepted, strict=True))
                break
        return [results[n] for n in range(len(posts))]

    retry = transaction("intake", intake.retry)
    edit = transaction("intake", intake.edit)
    count_queued = query(intake.count_queued)
    forget_keys = transaction("other", intake.forget_keys)

    # --- steering

    steer = transaction("intake", steering.steer)
    interrupt = transaction("intake", steering.interrupt)
    accept_if_idle = transaction("intake", steering.accept_if_idle)
    new_messages = query(steering.new_messages)

    # --- rate limits

    take_call = transaction("other", rate_limits.take)
    forget_calls = transaction("other", rate_limits.forget)

    # --- workers and claims

    register = transaction("lease", claims.register)
    heartbeat = transaction("lease", claims.heartbeat)
    runs_to_cancel = query(claims.runs_to_cancel)
    list_workers = query(claims.list_workers)
    retire = transaction("lease", claims.retire)
    ready_runs = query(claims.ready_runs)
    claim = transaction("claims", claims.claim)
    reap = transaction("other", claims.reap)

    # --- the log

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        """Try the hot path first. Parts that it does not write are judged one by one and refused with a reason."""
        outcomes: dict[int, Outcome] = {}
        simple = sorted((n for n, part in enumerate(parts) if _is_simple(part)), key=lambda n: parts[n].run_id)
        if simple:
            for n, written in (await self._append_fast([parts[n] for n in simple])).items():
                last = written.base + len(parts[simple[n]].drafts)
                outcomes[simple[n]] = Appended(
                    written.base + 1, last, written.cancel_requested, written.lane_ready, written.unread
                )
        left = [n for n in range(len(parts)) if n not in outcomes]
        if left:
            judged = await self._write("log", log.append, [parts[n] for n in left])
            outcomes |= dict(zip(left, judged, strict=True))
        return [outcomes[n] for n in range(len(parts))]

    read = query(log.read)
    heads = query(log.heads)
    unpublished = query(outbox.unpublished)

    # --- runs

    get_run = query(runs.get)
    get_named_run = query(runs.get_named)
    get_runs = query(runs.get_many)
    list_runs = query(runs.list_page)
    list_ended_runs = query(runs.list_ended)
    cancel = transaction("other", control.cancel)
    detach = statement("other", control.detach)
    attach = statement("other", control.attach)
    abandon = transaction("other", control.abandon)

    # --- waits

    get_wait = query(waits.get)
    list_waits = query(waits.list_page)
    answer = transaction("other", waits.answer)

    async def expire(
        self, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> tuple[Sequence[Wait], int | None]:
        due_in = await self._read(waits.due_in)
        if due_in is None or due_in > 0:
            return [], due_in  # the usual case: no write transaction is needed
        return await self._write("other", waits.expire, limit, event), 0

    ended_children = query(waits.ended_children)
    orphaned_children = query(waits.orphaned_children)
    keep_event = transaction("other", waits.keep_event)
    matched_events = query(waits.matched_events)
    forget_events = transaction("other", waits.forget_events)

    # --- pushes

    put_push = transaction("other", pushes.put)
    list_pushes = query(pushes.list_all)
    drop_push = statement("other", pushes.drop)

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        is_live, is_due = await self._read(pushes.due, run_ids)
        return (await self._write("other", pushes.claim, limit, lease_ms, run_ids) if is_due else []), is_live

    settle_push = statement("other", pushes.settle)

    # --- checkpoints

    runs_without_checkpoint = query(checkpoints.runs_without_checkpoint)
    save_checkpoint = transaction("other", checkpoints.save)
    read_checkpoints = query(checkpoints.read)

    # --- snapshots

    save_snapshot = statement("other", snapshots.save)
    snapshot = query(snapshots.newest)

    # --- files

    begin_upload = statement("other", files.begin_upload)
    write_chunk = transaction("other", files.write_chunk)
    finish_upload = transaction("other", files.finish_upload)
    drop_upload = transaction("other", files.drop_upload)
    get_file = query(files.get)
    read_chunk = query(files.read_chunk)
    sweep_files = transaction("other", files.sweep)
    dropped_contents = query(files.dropped_contents)
    forget_content = statement("other", files.forget_content)

    # --- retention

    sweep = transaction("other", retention.sweep)
    sweep_messages = transaction("other", retention.sweep_messages)
    drop_feed = transaction("other", retention.drop_feed)
    drop_logs = transaction("other", retention.drop_logs)
    get_tombstone = query(retention.get_tombstone)
    removals = query(retention.removals)
    forget_removals = transaction("other", retention.forget_removals)

    # --- API keys

    create_api_key = transaction("other", api_keys.create)
    get_api_key = query(api_keys.get)
    list_api_keys = query(api_keys.list_page)
    revoke_api_key = transaction("other", api_keys.revoke)
    touch_api_keys = statement("other", api_keys.touch)

    # --- documents

    put_documents = transaction("other", documents.put)
    get_documents = query(documents.get)

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        words = documents.words_of(query)
        return await self._read(documents.search, collection, self._match_any(words), limit) if words else []

    # --- channels

    open_channel = transaction("other", channels.open_channel)
    open_dm = transaction("other", channels.open_dm)
    get_conversation = query(channels.get)
    list_conversations = query(channels.list_page)
    change_channel = transaction("other", channels.change_channel)
    add_member = transaction("other", channels.add_member)
    remove_member = transaction("other", channels.remove_member)
    post_message = transaction("intake", channels.post_message)
    recent_messages = query(channels.recent)
    get_message = query(channels.get_message)
    change_message = transaction("other", channels.change_message)
    delete_message = transaction("other", channels.delete_message)
    react = transaction("other", channels.react)
    remove_reaction = transaction("other", channels.remove_reaction)
    reactions = query(channels.reactions)
    mark_read = transaction("other", channels.mark_read)
    unread = query(channels.unread)

    async def release_held_runs(self, limit: int) -> tuple[int, int | None]:
        due_in = await self._read(reply_order.due_in)
        if due_in is None or due_in > 0:
            return 0, due_in  # the usual case: no write transaction is needed
        return await self._write("other", reply_order.release, limit)

    recover_held_runs = transaction("other", reply_order.recover)

    async def number_feed(self, limit: int) -> int:
        last, has_new = await self._read(feed.unnumbered)
        return await self._write("other", feed.number, limit) if has_new else last

    read_feed = query(feed.read)
    feed_start = query(feed.start)

    # --- agents and their memory

    declare_agents = transaction("other", agents.declare)
    create_agent = transaction("other", agents.create)
    get_agent = query(agents.get)
    find_agent = query(agents.find)
    list_agents = query(agents.list_page)
    change_agent = transaction("other", agents.change)
    session = query(agents.session)
    save_session = transaction("other", agents.save_session)
    blocks = query(memory.blocks)
    put_block = transaction("other", memory.put_block)
    drop_block = transaction("other", memory.drop_block)
    link_block = transaction("other", memory.link_block)
    unlink_block = transaction("other", memory.unlink_block)
    put_passage = transaction("other", memory.put_passage)
    passages = query(memory.passages)
    drop_passage = transaction("other", memory.drop_passage)

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        text = query.strip()
        if not text:
            return []
        words = self._match_any(documents.words_of(text))
        return await self._read(memory.find_passages, agent, owner, words, text, limit)

    # --- the ledger

    mailbox_runs = query(ledger.runs)
    holding_runs = query(ledger.holding)
    read_ledger = query(ledger.read)
    usage_by_day = query(ledger.usage)
    run_groups = query(ledger.run_groups)


def _is_simple(part: Part) -> bool:
    """Return whether the hot path can write a part: no move, or the end of a run outside mailboxes. The end of a
    mailbox run releases the run behind it."""
    ends = isinstance(part.move, Finish) and not part.lane_key.startswith(MAILBOX)
    return (part.move is None or ends) and part.expected_seq is None and not (part.waits or part.takes or part.ledger)
