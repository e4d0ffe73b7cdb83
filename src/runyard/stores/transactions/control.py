"""Cancel and decide: what people do to a run from outside, under its lane's lock."""

from collections.abc import Sequence
from typing import Literal

from runyard.domain.approval import Approval
from runyard.domain.events import Draft
from runyard.domain.lane import extended, replace, requeued
from runyard.domain.run import Run, Status
from runyard.errors import AlreadyDecided, NotFound
from runyard.store import Ending
from runyard.stores import _rows
from runyard.stores.transactions import runs
from runyard.stores.transactions.claims import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def cancel(tx: Tx, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
    run = await runs.get(tx, owner, run_id)
    if run.status.is_terminal:
        return run
    [lane] = (await lock_lanes(tx, {run.lane_key})).values()
    [row] = await tx.rows(tx.q.lock_runs, [run_id])
    run, now = _rows.run(row), int(row["now"])
    match run.status:
        case Status.RUNNING if run.cancel_requested_at is None:
            run = replace(run, cancel_requested_at=now, cancel_deadline=now + grace_ms)
        case Status.QUEUED:
            run, lane = await runs.end(tx, run, "cancel", ending, now), lane.withdrawn()
        case Status.WAITING:
            run, lane = await runs.end(tx, run, "cancel", ending, now), lane.left(run.id, now)
        case _:
            return run
    await runs.move_on(tx, run)
    await save_lanes(tx, [lane])
    return run


async def get_approval(tx: Tx, owner: str, approval_id: str) -> Approval:
    for row in await tx.rows(tx.q.get_approval, owner, approval_id):
        return _rows.approval(row)
    raise NotFound("There is no approval with that id.")


async def list_approvals(tx: Tx, owner: str, before: str | None, limit: int) -> Sequence[Approval]:
    return [_rows.approval(row) for row in await tx.rows(tx.q.list_approvals, owner, before, limit)]


async def decide(
    tx: Tx, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
) -> Approval:
    found = await tx.rows(tx.q.get_approval, owner, approval_id)
    if not found:
        raise NotFound("There is no approval with that id.")
    [lane] = (await lock_lanes(tx, {found[0]["lane_key"]})).values()
    [row] = await tx.rows(tx.q.lock_runs, [str(found[0]["run_id"])])
    run, now = _rows.run(row), int(row["now"])
    decided = await tx.rows(tx.q.decide_approval, approval_id, state, by)
    if not decided or run.status.is_terminal:
        raise AlreadyDecided
    await tx.many(tx.q.write_events, _rows.event_values(run.id, run.fence, run.last_seq + 1, [event]))
    run = extended(run, 1, run.last_batch, True, 0)
    if run.status is Status.WAITING:
        run = requeued(run, "decision")
        lane = lane.returned(run, now)
    await runs.move_on(tx, run)
    await save_lanes(tx, [lane])
    return _rows.approval(decided[0])
