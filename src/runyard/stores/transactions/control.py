"""Cancel runs and decide approvals, under the lock of the run's lane."""

from collections.abc import Callable, Sequence
from typing import Literal

from runyard.domain.approval import Approval
from runyard.domain.events import Draft
from runyard.domain.lane import Lane, extended, replace, requeued
from runyard.domain.run import Run, Status
from runyard.errors import AlreadyDecided, NotFound, RunEnded
from runyard.store import Ending
from runyard.stores import rows as _rows
from runyard.stores.transactions import runs
from runyard.stores.transactions.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def cancel(tx: Tx, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
    run = await runs.get(tx, owner, run_id)
    if run.status.is_terminal:
        return run
    [lane] = (await lock_lanes(tx, {run.lane_key})).values()
    [row] = await tx.rows(tx.q.lock_runs, [run_id])
    run, lane = await _stop(tx, _rows.run(row), lane, int(row["now"]), grace_ms, ending)
    await save_lanes(tx, [lane])
    return run


async def _stop(tx: Tx, run: Run, lane: Lane, now: int, grace_ms: int, ending: Ending) -> tuple[Run, Lane]:
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
    for locked in await tx.rows(tx.q.lock_runs, sorted(str(row["id"]) for row in found)):
        [row] = await tx.rows(tx.q.lock_runs, [locked["id"]])  # the end of the runs before it may have changed it
        run, now = _rows.run(row), int(row["now"])
        if run.detach_deadline is None or run.detach_deadline > now or run.status is Status.WAITING:
            continue  # a client reconnected, or the run parked, before the lock
        run, lanes[run.lane_key] = await _stop(tx, run, lanes[run.lane_key], now, grace_ms, ending)
        stopped.append(run)
    await save_lanes(tx, lanes.values())
    return stopped


# --- approvals


async def get_approval(tx: Tx, owner: str, approval_id: str) -> Approval:
    return _rows.approval(await _approval(tx, owner, approval_id))


async def _approval(tx: Tx, owner: str, approval_id: str) -> _rows.Row:
    for row in await tx.rows(tx.q.get_approval, owner, approval_id):
        return row
    raise NotFound("There is no approval with that id.")


async def list_approvals(
    tx: Tx, owner: str, before: str | None, limit: int, run_id: str | None = None
) -> Sequence[Approval]:
    return [_rows.approval(row) for row in await tx.rows(tx.q.list_approvals, owner, before, limit, run_id)]


async def decide(
    tx: Tx, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
) -> Approval:
    found = await _approval(tx, owner, approval_id)
    [lane] = (await lock_lanes(tx, {found["lane_key"]})).values()
    [row] = await tx.rows(tx.q.lock_runs, [str(found["run_id"])])
    decided = await tx.rows(tx.q.decide_approval, approval_id, state, by)
    if not decided:
        is_void = (await get_approval(tx, owner, approval_id)).state == "void"
        raise RunEnded if is_void else AlreadyDecided
    await save_lanes(tx, [await _answered(tx, row, lane, event)])
    return _rows.approval(decided[0])


async def expire(tx: Tx, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
    found = await tx.rows(tx.q.expired_approvals, limit)
    if not found:
        return []
    lanes = await lock_lanes(tx, {row["lane_key"] for row in found})
    await tx.rows(tx.q.lock_runs, sorted({str(row["run_id"]) for row in found}))
    expired: list[Approval] = []
    for each in found:
        for decided in await tx.rows(tx.q.decide_approval, each["id"], "expired", None):
            approval = _rows.approval(decided)
            [row] = await tx.rows(tx.q.lock_runs, [approval.run_id])  # its other approvals may have changed it
            lanes[each["lane_key"]] = await _answered(tx, row, lanes[each["lane_key"]], event(approval))
            expired.append(approval)
    await save_lanes(tx, lanes.values())
    return expired


async def _answered(tx: Tx, row: _rows.Row, lane: Lane, event: Draft) -> Lane:
    """Append the event to a locked run, and queue the run if it was waiting."""
    run, now = _rows.run(row), int(row["now"])
    await tx.many(tx.q.write_events, _rows.event_values(run.id, run.fence, run.last_seq + 1, [event]))
    run = extended(run, 1, run.last_batch, True, 0)
    if run.status is Status.WAITING:
        run = requeued(run, "decision")
        lane = lane.returned(run, now)
    await runs.move_on(tx, run)
    return lane
