"""Workers, claims, and the runs of dead workers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from runyard.domain.runs.lane import Lane, claimed, replace, requeued
from runyard.domain.runs.run import SUSPECT_ATTEMPTS, Run, Status, backoff_ms, fate_of_orphan
from runyard.store import NO_VERSIONS, AgentFilter, Beat, Claim, Ending, ReadyRun, Reaped, WorkerRow
from runyard.stores import rows as _rows
from runyard.stores.transactions.queue import left_messages
from runyard.stores.transactions.runs import feed_rows, runs
from runyard.stores.transactions.runs.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def register(tx: Tx, worker_id: str, label: str, ttl_ms: int) -> None:
    await tx.rows(tx.q.register_worker, worker_id, label, ttl_ms)


async def heartbeat(tx: Tx, worker_id: str, ttl_ms: int) -> Beat:
    if not await tx.rows(tx.q.renew_lease, worker_id, ttl_ms):
        return Beat(alive=False)
    return Beat(alive=True, holds=[_rows.run(row) for row in await tx.rows(tx.q.runs_held, worker_id)])


async def runs_to_cancel(tx: Tx, worker_id: str) -> Sequence[str]:
    return [str(row["id"]) for row in await tx.rows(tx.q.runs_to_cancel, worker_id)]


async def list_workers(tx: Tx) -> Sequence[WorkerRow]:
    rows = await tx.rows(tx.q.list_workers)
    return [WorkerRow(str(row["id"]), row["label"], row["lease_until"], row["started_at"], row["runs"]) for row in rows]


async def retire(tx: Tx, worker_id: str) -> None:
    """Delete the worker's row. If the worker still holds runs, only end its lease: the reaper then takes them.

    A claim of this worker may not be committed yet. It holds a lock on the row, so the row is locked before the runs
    are read."""
    await tx.rows(tx.q.lock_worker, worker_id)
    if await tx.rows(tx.q.orphaned_runs, [worker_id]):
        await tx.rows(tx.q.renew_lease, worker_id, -1)
    else:
        await tx.rows(tx.q.delete_workers, [worker_id])


async def ready_runs(tx: Tx, limit: int) -> Sequence[ReadyRun]:
    rows = await tx.rows(tx.q.ready_runs, limit)
    return [ReadyRun(str(row["id"]), row["agent"], row["ready_at"]) for row in rows]


async def claim(
    tx: Tx,
    worker_id: str,
    limit: int,
    suspects: bool,
    versions: Mapping[str, str] = NO_VERSIONS,
    agents: AgentFilter | None = None,
) -> Sequence[Claim]:
    taken = await _take(tx, worker_id, limit, versions, agents, suspect=False)
    if suspects and len(taken) < limit:
        taken += await _take(tx, worker_id, 1, versions, agents, suspect=True)
    return taken


async def _take(
    tx: Tx, worker_id: str, limit: int, versions: Mapping[str, str], agents: AgentFilter | None, suspect: bool
) -> list[Claim]:
    if agents is None:
        locked = await tx.rows(tx.q.lock_ready_lanes, suspect, limit, worker_id)
    else:
        names, are_named = list(agents.names), not agents.are_excluded
        locked = await tx.rows(tx.q.lock_ready_lanes_of, suspect, limit, worker_id, names, are_named)
    if not locked:
        return []
    now: int = locked[0]["now"]
    lanes = {row["key"]: _rows.lane(row) for row in locked}
    claims: list[Claim] = []
    started: list[Run] = []
    for row in await tx.rows(tx.q.lane_heads, list(lanes)):
        run = _rows.run(row)
        lane = lanes[run.lane_key]
        if agents is not None and not agents.allows(run.agent):
            continue  # the first run of the lane changed before it was locked
        if (run.attempts >= SUSPECT_ATTEMPTS) != suspect:
            lanes[lane.key] = replace(lane, suspect=not suspect)
            continue
        mine = claimed(run, worker_id, versions.get(run.agent), now)
        lanes[lane.key] = lane.claimed(mine)
        claims.append(_rows.claim(row, mine))
        if run.started_at is None:
            started.append(mine)
    await tx.together(
        (tx.q.save_lanes, [_rows.lane_values(lane) for lane in lanes.values()]),
        (tx.q.save_runs, [_rows.run_values(claim.run) for claim in claims]),
        (tx.q.reopen_outbox, [(claim.run.id,) for claim in claims]),
        (tx.q.insert_feed, feed_rows.at_work(started)),
    )
    order = list(lanes)
    return sorted(claims, key=lambda claim: order.index(claim.run.lane_key))


async def reap(tx: Tx, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
    dead = [str(row["id"]) for row in await tx.rows(tx.q.lock_dead_workers, limit)]
    found: list[Any] = list(await tx.rows(tx.q.overdue_runs, limit))
    if dead:
        found += await tx.rows(tx.q.orphaned_runs, dead)
    strays = await tx.rows(tx.q.stray_runs, limit)
    found += strays
    lost = {*dead, *(str(row["worker_id"]) for row in strays)}
    reaped: list[Reaped] = []
    unread: list[Run] = []
    if found:
        lanes = await lock_lanes(tx, {row["lane_key"] for row in found})
        for row in await tx.rows(tx.q.lock_runs, sorted({str(row["id"]) for row in found})):
            run = _rows.run(row)
            if _is_lost(run, lost, row["now"]):
                lane, fate = await _revoke(tx, run, lanes[run.lane_key], max_attempts, ending, row["now"])
                lanes[run.lane_key] = lane
                reaped.append(fate)
                if run.unread and fate.fate != "requeue":
                    unread.append(run)
        await save_lanes(tx, lanes.values())
        await left_messages.start_runs(tx, unread)
    if dead:
        await tx.rows(tx.q.delete_workers, dead)
    return reaped


def _is_lost(run: Run, dead: Collection[str], now: int) -> bool:
    """Return whether a locked run is lost. It may have ended or changed workers before the lock."""
    overdue = run.cancel_deadline is not None and run.cancel_deadline <= now
    return run.status is Status.RUNNING and (run.worker_id in dead or overdue)


async def _revoke(tx: Tx, run: Run, lane: Lane, max_attempts: int, ending: Ending, now: int) -> tuple[Lane, Reaped]:
    fate = fate_of_orphan(run, max_attempts)
    if fate == "requeue":
        after = requeued(run, "crash")
        lane = lane.returned(after, now + backoff_ms(run.attempts))
    else:
        after = await runs.end(tx, run, fate, ending, now)
        lane = lane.left(run.id, now)
    await runs.move_on(tx, after)
    return lane, Reaped(run.id, fate)
