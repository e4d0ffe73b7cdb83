"""Delete old runs, messages and feed entries, a batch at a time, under the locks of their lanes."""

from collections.abc import Sequence

from runyard.base.ids import first_id_at
from runyard.domain.runs.run import thread_lane
from runyard.errors import NotFound
from runyard.store import Removal, Swept, Tombstone
from runyard.stores.transactions.tx import Tx

BEGINNING = first_id_at(0)


async def sweep(tx: Tx, horizon: int, after: str | None, limit: int) -> Swept:
    old = await tx.rows(tx.q.old_runs, after or BEGINNING, first_id_at(horizon), limit)
    if not old:
        return Swept(0, 0, None)
    await tx.rows(tx.q.lock_lanes, sorted({row["lane_key"] for row in old}))
    ids = [str(row["id"]) for row in old]
    alone = await tx.rows(tx.q.droppable_runs, ids, horizon)
    wanted = sorted({str(row["thread_id"]) for row in old if row["thread_id"] is not None})
    threads = [str(row["id"]) for row in await tx.rows(tx.q.droppable_threads, wanted, horizon)] if wanted else []
    members = await tx.rows(tx.q.runs_of_threads, threads) if threads else []
    dropped = [str(row["id"]) for row in (*alone, *members)]
    lanes = [row["lane_key"] for row in alone if row["is_last"]] + [thread_lane(thread_id) for thread_id in threads]
    await _drop(tx, dropped, threads, lanes)
    return Swept(len(old), len(dropped), ids[-1] if len(old) == limit else None)


async def _drop(tx: Tx, runs: Sequence[str], threads: Sequence[str], lanes: Sequence[str]) -> None:
    if not runs:
        return
    await tx.rows(tx.q.insert_removed_runs, list(runs))
    await tx.rows(tx.q.insert_removed_threads, list(threads))
    for statement in (
        tx.q.keep_tombstones,
        tx.q.drop_events,
        tx.q.drop_waits,
        tx.q.drop_steered,
        tx.q.drop_outbox,
        tx.q.drop_checkpoints,
        tx.q.drop_runs,
    ):
        await tx.rows(statement, list(runs))
    for statement in (tx.q.drop_messages, tx.q.drop_threads):
        await tx.rows(statement, list(threads))
    await tx.rows(tx.q.drop_lanes, sorted(lanes))


async def sweep_messages(tx: Tx, horizon: int, after: str | None, limit: int) -> Swept:
    until = first_id_at(horizon)
    old = [str(row["id"]) for row in await tx.rows(tx.q.old_messages, after or BEGINNING, until, limit)]
    dropped = [str(row["id"]) for row in await tx.rows(tx.q.drop_old_messages, old, until)] if old else []
    if dropped:
        await tx.rows(tx.q.drop_reactions, dropped)
    return Swept(len(old), len(dropped), old[-1] if len(old) == limit else None)


async def drop_feed(tx: Tx, horizon: int, limit: int) -> int:
    old = [row["no"] for row in await tx.rows(tx.q.oldest_feed, limit) if row["created_at"] < horizon]
    if old:
        await tx.rows(tx.q.drop_feed, max(old))
        await tx.rows(tx.q.move_feed_start, max(old))
    return len(old)


async def drop_logs(tx: Tx, horizon: int, tombstones: int) -> int:
    await tx.rows(tx.q.forget_tombstones, tombstones)  # first: dropping a partition blocks writers
    return sum(row["dropped"] for row in await tx.rows(tx.q.drop_logs, horizon))


async def get_tombstone(tx: Tx, owner: str, run_id: str) -> Tombstone:
    for row in await tx.rows(tx.q.get_tombstone, owner, run_id):
        return Tombstone(
            id=str(row["id"]),
            agent=row["agent"],
            status=row["status"],
            stop_reason=row["stop_reason"],
            error_code=row["error_code"],
            last_seq=row["last_seq"],
            created_at=row["created_at"],
            finished_at=row["finished_at"],
            dropped_at=row["dropped_at"],
        )
    raise NotFound


async def forget_removals(tx: Tx, before: int) -> None:
    await tx.rows(tx.q.forget_removals, before)


async def removals(tx: Tx, since: int, after: str | None, limit: int) -> Sequence[Removal]:
    rows = await tx.rows(tx.q.read_removals, since, after or BEGINNING, limit)
    return [Removal(str(row["id"]), row["owner"], row["chat"], row["removed_at"]) for row in rows]
