"""Threads, their messages, and links that share them."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.base.ids import is_id
from runyard.domain.conversations.thread import Message, Share, Thread
from runyard.domain.runs.publication import is_dated
from runyard.domain.runs.run import thread_lane
from runyard.domain.runs.thread_head import ThreadHead
from runyard.errors import Conflict, NotFound, RunActive, TooMany
from runyard.store import IdempotencyKey, LogCopy
from runyard.stores import rows as _rows
from runyard.stores.transactions.queue import keys
from runyard.stores.transactions.runs import runs
from runyard.stores.transactions.tx import Tx

COPIED_AT_ONCE = 5000
NAME_TAKEN = "A thread has that name. Choose another name."
MOST_SHARES = "The thread has too many links. Revoke one."
NO_SHARE = "There is no such link, or it has expired."


async def create(tx: Tx, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
    known = await keys.take(tx, key, thread.id)
    if known is not None:
        return await get(tx, thread.owner, known)
    if thread.external_id is None:
        await tx.rows(tx.q.insert_thread, *_rows.thread_values(thread))
        return thread
    await tx.many(tx.q.open_threads, [_rows.thread_values(thread)])
    if (await get_named(tx, thread.owner, thread.external_id)).id != thread.id:
        raise Conflict(NAME_TAKEN)
    return thread


async def change(tx: Tx, owner: str, thread_id: str, metadata: str) -> Thread:
    rows = await tx.rows(tx.q.change_thread, owner, thread_id, metadata)
    if not rows:
        raise NotFound
    return _rows.thread(rows[0])


async def fork(
    tx: Tx, thread: Thread, run_id: str, key: IdempotencyKey | None = None, log_copy: LogCopy | None = None
) -> Thread:
    """Fork a thread under the lock of the original thread's lane, so that this cannot be deleted concurrently."""
    known = await keys.take(tx, key, thread.id)
    if known is not None:
        return await get(tx, thread.owner, known)
    run = await runs.get(tx, thread.owner, run_id)
    if run.thread_id is None:
        raise NotFound("That run belongs to no thread and cannot be forked.")
    await tx.rows(tx.q.lock_lanes, [thread_lane(run.thread_id)])
    run = await runs.get(tx, thread.owner, run_id)
    if log_copy is not None:
        await _copy(tx, log_copy)
    elif not run.status.is_terminal:
        raise RunActive("A thread is forked where a run has ended; cancel it, wait, or say `at_seq`.")
    made = replace(thread, head_run_id=run_id if log_copy is None else log_copy.run.id, forked_from=run.thread_id)
    await tx.rows(tx.q.fork_thread, *_rows.thread_values(made), made.head_run_id, made.forked_from)
    return made


async def _copy(tx: Tx, log_copy: LogCopy) -> None:
    """Insert the run of a log copy. It gets a position in its lane but is never queued."""
    run, said = log_copy.run, log_copy.message
    [lane] = await tx.many(tx.q.open_lanes, [(run.lane_key, 1, 0)])
    run = replace(run, pos=_rows.lane(lane).next_pos - 1)
    await tx.together(
        (tx.q.insert_runs, [_rows.new_run_values(run, None)]),
        (tx.q.init_outbox, [(run.id, is_dated(run))]),
        (tx.q.insert_messages, [] if said is None else [_rows.message_values(said)]),
    )
    for first in range(0, len(log_copy.drafts), COPIED_AT_ONCE):
        drafts = log_copy.drafts[first : first + COPIED_AT_ONCE]
        await tx.many(tx.q.write_events, _rows.event_values(run.id, run.fence, first + 1, drafts))
    await tx.many(tx.q.save_runs, [_rows.run_values(run)])


async def get(tx: Tx, owner: str, thread_id: str) -> Thread:
    for row in await tx.rows(tx.q.get_thread, owner, thread_id):
        return _rows.thread(row)
    raise NotFound("There is no thread with that id.")


async def get_named(tx: Tx, owner: str, external_id: str) -> Thread:
    thread = await _find(tx, owner, external_id)
    if thread is None:
        raise NotFound("There is no thread with that id.")
    return thread


async def get_head(tx: Tx, owner: str, external_id: str) -> ThreadHead:
    thread = await _find(tx, owner, external_id)
    if thread is None or thread.head_run_id is None:
        return ThreadHead(thread)
    rows = await tx.rows(tx.q.get_run, owner, thread.head_run_id)
    return ThreadHead(thread, _rows.run(rows[0]) if rows else None)


async def _find(tx: Tx, owner: str, external_id: str) -> Thread | None:
    known_id = external_id if is_id(external_id) else None
    found = [_rows.thread(row) for row in await tx.rows(tx.q.get_named_thread, owner, external_id, known_id)]
    return min(found, key=lambda thread: thread.external_id != external_id, default=None)


async def list_page(tx: Tx, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
    return [_rows.thread(row) for row in await tx.rows(tx.q.list_threads, owner, before, limit)]


async def list_active(tx: Tx, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
    return [_rows.thread(row) for row in await tx.rows(tx.q.list_active_threads, owner, before, limit)]


async def delete(tx: Tx, owner: str, thread_id: str) -> None:
    await get(tx, owner, thread_id)  # a caller that does not own it waits for no lock
    await tx.rows(tx.q.lock_lanes, [thread_lane(thread_id)])
    if not await tx.rows(tx.q.lock_thread, owner, thread_id):
        raise NotFound("There is no thread with that id.")
    await tx.rows(tx.q.adopt_children, thread_id)
    [live] = await tx.rows(tx.q.count_live_runs, thread_id)
    if live["n"]:
        raise RunActive("The thread has a run that has not ended; cancel it or wait, then delete.")
    [forks] = await tx.rows(tx.q.count_forks, thread_id)
    if forks["n"]:
        raise Conflict("Another thread was forked from this one and builds on it; delete that one first.")
    await tx.rows(tx.q.insert_removed_threads, [thread_id])
    for statement in (
        tx.q.delete_thread_checkpoints,
        tx.q.delete_thread_events,
        tx.q.delete_thread_waits,
        tx.q.delete_thread_steered,
        tx.q.delete_thread_outbox,
        tx.q.delete_child_lanes,
        tx.q.delete_thread_runs,
        tx.q.delete_thread_reactions,
        tx.q.delete_thread_messages,
        tx.q.delete_thread_members,
        tx.q.delete_thread_sessions,
        tx.q.delete_thread_feed,
    ):
        await tx.rows(statement, thread_id)
    await tx.rows(tx.q.delete_thread, owner, thread_id)
    await tx.rows(tx.q.delete_lane, thread_lane(thread_id))


async def list_messages(tx: Tx, thread_id: str) -> Sequence[Message]:
    return [_rows.message(row) for row in await tx.rows(tx.q.list_messages, thread_id)]


async def get_messages(tx: Tx, message_ids: Sequence[str]) -> Mapping[str, Message]:
    return {str(row["id"]): _rows.message(row) for row in await tx.rows(tx.q.get_messages, list(message_ids))}


async def set_title(tx: Tx, owner: str, thread_id: str, title: str) -> None:
    if not await tx.rows(tx.q.set_title, owner, thread_id, title):
        raise NotFound("There is no thread with that id.")


async def titles(tx: Tx, thread_ids: Sequence[str]) -> Mapping[str, str]:
    return {str(row["id"]): row["title"] for row in await tx.rows(tx.q.read_titles, list(thread_ids))}


async def first_messages(tx: Tx, thread_ids: Sequence[str]) -> Mapping[str, Message]:
    found = [_rows.message(row) for row in await tx.rows(tx.q.first_messages, list(thread_ids))]
    return {message.thread_id: message for message in found}


async def search_messages(tx: Tx, owner: str, words: str, before: str | None, limit: int) -> Sequence[Message]:
    return [_rows.message(row) for row in await tx.rows(tx.q.search_messages, owner, words, before, limit)]


async def search_titles(tx: Tx, owner: str, words: str, limit: int) -> Mapping[str, str]:
    return {str(row["id"]): row["title"] for row in await tx.rows(tx.q.search_titles, owner, words, limit)}


async def history(tx: Tx, run_id: str, limit: int) -> Sequence[Message]:
    return [_rows.message(row) for row in await tx.rows(tx.q.history, run_id, limit)]


async def create_share(tx: Tx, share: Share, valid_ms: int, most: int) -> Share:
    await tx.rows(tx.q.drop_expired_shares)
    if len(await list_shares(tx, share.owner, share.thread_id)) >= most:
        raise TooMany(MOST_SHARES)
    values = share.id, share.owner, share.thread_id, share.digest, share.upto, valid_ms
    for row in await tx.rows(tx.q.insert_share, *values):
        return _rows.share(row)
    raise NotFound("There is no thread with that id.")


async def list_shares(tx: Tx, owner: str, thread_id: str) -> Sequence[Share]:
    return [_rows.share(row) for row in await tx.rows(tx.q.list_shares, owner, thread_id)]


async def find_share(tx: Tx, digest: str) -> Share:
    for row in await tx.rows(tx.q.find_share, digest):
        return _rows.share(row)
    raise NotFound(NO_SHARE)


async def drop_share(tx: Tx, owner: str, thread_id: str, share_id: str) -> None:
    if not await tx.rows(tx.q.drop_share, owner, thread_id, share_id):
        raise NotFound(NO_SHARE)
