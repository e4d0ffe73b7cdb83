"""Cancel runs, under the lock of their lanes."""

from collections.abc import Sequence

from runyard.domain.runs.lane import Lane, replace
from runyard.domain.runs.run import Run, Status
from runyard.store import Ending
from runyard.stores import rows as _rows
from runyard.stores.transactions.queue import left_messages
from runyard.stores.transactions.runs import runs
from runyard.stores.transactions.runs.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def cancel(tx: Tx, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
    run = await runs.get(tx, owner, run_id)
    if run.status.is_terminal:
        return run
    [lane] = (await lock_lanes(tx, {run.lane_key})).values()
    [row] = await tx.rows(tx.q.lock_runs, [run_id])
    unread = int(row["unread"])
    run, lane = await stop(tx, _rows.run(row), lane, int(row["now"]), grace_ms, ending)
    await save_lanes(tx, [lane])
    if unread and run.status.is_terminal:
        await left_messages.start_runs(tx, [run])
    return run


async def stop(tx: Tx, run: Run, lane: Lane, now: int, grace_ms: int, ending: Ending) -> tuple[Run, Lane]:
    """Stop a locked run. The caller saves the lane, and then starts the runs of messages that an ended run left."""
    match run.status:
        case Status.RUNNING if run.cancel_requested_at is None:
            run = replace(run, cancel_requested_at=now, cancel_deadline=now + grace_ms)
        case Status.QUEUED:
            lane = lane if run.held else lane.withdrawn()
            run = await runs.end(tx, run, "cancel", ending, now)
        case Status.WAITING:
            run, lane = await runs.end(tx, run, "cancel", ending, now), lane.left(run.id, now)
        case _:
            return run, lane
    await runs.move_on(tx, run)
    return run, lane


# --- disconnects


async def detach(tx: Tx, run_id: str, grace_ms: int) -> None:
    await tx.rows(tx.q.detach_run, run_id, grace_ms)


async def attach(tx: Tx, run_ids: Sequence[str]) -> None:
    await tx.rows(tx.q.attach_runs, list(run_ids))


async def abandon(tx: Tx, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
    found = await tx.rows(tx.q.detached_runs, limit)
    if not found:
        return []
    lanes = await lock_lanes(tx, {row["lane_key"] for row in found})
    stopped: list[Run] = []
    unread: set[str] = set()
    for locked in await tx.rows(tx.q.lock_runs, sorted(str(row["id"]) for row in found)):
        [row] = await tx.rows(tx.q.lock_runs, [locked["id"]])  # the end of the runs before it may have changed it
        run, now = _rows.run(row), int(row["now"])
        if run.detach_deadline is None or run.detach_deadline > now or run.status is Status.WAITING:
            continue  # a client reconnected, or the run parked, before the lock
        if run.unread:
            unread.add(run.id)
        run, lanes[run.lane_key] = await stop(tx, run, lanes[run.lane_key], now, grace_ms, ending)
        stopped.append(run)
    await save_lanes(tx, lanes.values())
    await left_messages.start_runs(tx, [run for run in stopped if run.status.is_terminal and run.id in unread])
    return stopped
