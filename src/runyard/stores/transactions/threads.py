"""Threads and what was said in them."""

from collections.abc import Sequence

from runyard.domain.run import thread_lane
from runyard.domain.thread import Message, Thread
from runyard.errors import KeyReused, NotFound, RunActive
from runyard.store import IdempotencyKey
from runyard.stores import _rows
from runyard.stores.transactions.tx import Tx


async def create(tx: Tx, thread: Thread, key: IdempotencyKey | None) -> Thread:
    if key is not None:
        known = await take_key(tx, key, thread.id)
        if known is not None:
            return await get(tx, thread.owner, known)
    made = (thread.id, thread.owner, thread.kind, thread.external_id, thread.user_id, thread.agent, thread.created_at)
    await tx.rows(tx.q.insert_thread, *made)
    return thread


async def take_key(tx: Tx, key: IdempotencyKey, result: str) -> str | None:
    """None if the key is new (and now stands for `result`), else what it stands for."""
    if await tx.many(tx.q.note_keys, [(key.scope, key.key, key.digest, result)]):
        return None
    return await known_result(tx, key)


async def known_result(tx: Tx, key: IdempotencyKey) -> str:
    [row] = await tx.rows(tx.q.get_key, key.scope, key.key)
    if row["digest"] != key.digest:
        raise KeyReused
    return str(row["result"])


async def get(tx: Tx, owner: str, thread_id: str) -> Thread:
    for row in await tx.rows(tx.q.get_thread, owner, thread_id):
        return _rows.thread(row)
    raise NotFound("There is no thread with that id.")


async def list_page(tx: Tx, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
    return [_rows.thread(row) for row in await tx.rows(tx.q.list_threads, owner, before, limit)]


async def delete(tx: Tx, owner: str, thread_id: str) -> None:
    await tx.rows(tx.q.lock_lanes, [thread_lane(thread_id)])
    await get(tx, owner, thread_id)
    [live] = await tx.rows(tx.q.count_live_runs, thread_id)
    if live["n"]:
        raise RunActive("The thread has a run that has not ended; cancel it or wait, then delete.")
    for statement in (
        tx.q.delete_thread_events,
        tx.q.delete_thread_approvals,
        tx.q.delete_thread_outbox,
        tx.q.delete_thread_runs,
        tx.q.delete_thread_messages,
    ):
        await tx.rows(statement, thread_id)
    await tx.rows(tx.q.delete_thread, owner, thread_id)
    await tx.rows(tx.q.delete_lane, thread_lane(thread_id))


async def messages(tx: Tx, thread_id: str) -> Sequence[Message]:
    return [_rows.message(row) for row in await tx.rows(tx.q.list_messages, thread_id)]


async def history(tx: Tx, run_id: str, limit: int) -> Sequence[Message]:
    return [_rows.message(row) for row in await tx.rows(tx.q.history, run_id, limit)]
