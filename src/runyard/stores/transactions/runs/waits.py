"""Waits and their answers, under the lock of the run's lane; and the events that machines deliver."""

from collections.abc import Callable, Sequence

import msgspec

from runyard.domain.events import Draft
from runyard.domain.runs.lane import Lane, extended, requeued
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import KeptEvent, Wait, WaitStatus, child_target
from runyard.errors import AlreadyDecided, NotFound, RunEnded
from runyard.stores import rows as _rows
from runyard.stores.transactions.runs import runs
from runyard.stores.transactions.runs.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def get(tx: Tx, owner: str | None, wait_id: str) -> Wait:
    return _rows.wait(await _row(tx, owner, wait_id))


async def _row(tx: Tx, owner: str | None, wait_id: str) -> _rows.Row:
    for row in await tx.rows(tx.q.get_wait, owner, wait_id):
        return row
    raise NotFound("There is no wait with that id.")


async def list_page(tx: Tx, owner: str, before: str | None, limit: int, run_id: str | None = None) -> Sequence[Wait]:
    return [_rows.wait(row) for row in await tx.rows(tx.q.list_waits, owner, before, limit, run_id)]


async def answer(
    tx: Tx,
    owner: str | None,
    wait_id: str,
    state: WaitStatus,
    by: str,
    event: Draft,
    taken: KeptEvent | None = None,
) -> Wait:
    found = await _row(tx, owner, wait_id)
    [lane] = (await lock_lanes(tx, {found["lane_key"]})).values()
    [row] = await tx.rows(tx.q.lock_runs, [str(found["run_id"])])
    answered = await tx.rows(tx.q.answer_wait, wait_id, state, by)
    if not answered:
        is_void = (await get(tx, owner, wait_id)).state == "void"
        raise RunEnded if is_void else AlreadyDecided
    if taken is not None:
        await tx.rows(tx.q.take_event, taken.owner, taken.id)
    await save_lanes(tx, [await _answered(tx, row, lane, event, int(row["now"]))])
    return _rows.wait(answered[0])


async def expire(tx: Tx, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]) -> Sequence[Wait]:
    found = await tx.rows(tx.q.expired_waits, limit)
    if not found:
        return []
    lanes = await lock_lanes(tx, {row["lane_key"] for row in found})
    await tx.rows(tx.q.lock_runs, sorted({str(row["run_id"]) for row in found}))
    expired: list[Wait] = []
    for each in found:
        state, draft = event(await get(tx, None, each["id"]))
        for answered in await tx.rows(tx.q.answer_wait, each["id"], state, None):
            wait = _rows.wait(answered)
            [row] = await tx.rows(tx.q.lock_runs, [wait.run_id])  # its other waits may have changed it
            due = wait.expires_at or int(row["now"])
            lanes[each["lane_key"]] = await _answered(tx, row, lanes[each["lane_key"]], draft, due)
            expired.append(wait)
    await save_lanes(tx, lanes.values())
    return expired


async def due_in(tx: Tx) -> int | None:
    [row] = await tx.rows(tx.q.next_expiry)
    return None if row["due_in"] is None else int(row["due_in"])


async def _answered(tx: Tx, row: _rows.Row, lane: Lane, event: Draft, ready_at: int) -> Lane:
    """Append the event to a locked run, and queue the run if it was waiting. It is ready since `ready_at`."""
    run = _rows.run(row)
    await tx.many(tx.q.write_events, _rows.event_values(run.id, run.fence, run.last_seq + 1, [event]))
    run = extended(run, 1, run.last_batch, True, 0)
    if run.status is Status.WAITING:
        run = requeued(run, "decision")
        lane = lane.returned(run, ready_at)
    await runs.move_on(tx, run)
    return lane


# --- children


async def ended_children(tx: Tx, limit: int, child: str | None = None) -> Sequence[tuple[str, Run]]:
    target = None if child is None else child_target(child)
    return [(row["wait_id"], _rows.run(row)) for row in await tx.rows(tx.q.ended_children, limit, target)]


async def orphaned_children(tx: Tx, limit: int, parent: str | None = None) -> Sequence[Run]:
    return [_rows.run(row) for row in await tx.rows(tx.q.orphaned_children, limit, parent)]


# --- events of machines


async def keep_event(tx: Tx, event: KeptEvent, keep_ms: int) -> bool:
    data = msgspec.json.encode(event.data)
    return bool(await tx.rows(tx.q.keep_event, event.owner, event.id, event.name, event.target, data, keep_ms))


async def matched_events(tx: Tx, limit: int, target: str | None = None) -> Sequence[tuple[Wait, KeptEvent]]:
    rows = await tx.rows(tx.q.matched_events, limit, target)
    return [(_rows.wait(row), _rows.kept_event(row)) for row in rows]


async def forget_events(tx: Tx) -> None:
    await tx.rows(tx.q.forget_events)
