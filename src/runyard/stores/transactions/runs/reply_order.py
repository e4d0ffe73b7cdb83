"""The reply order: the runs that one message started follow one another, each held until the previous one has ended or
parked.

The transaction that ends or parks a run makes the next one due (`release_next`); `release` later puts it into its lane.
No transaction waits for a lane while it holds a run: only `release` locks the lane of a held run.
"""

from collections.abc import Collection, Sequence

from runyard.domain.runs.run import Run, Status
from runyard.stores import rows as _rows
from runyard.stores.transactions.runs import feed_rows
from runyard.stores.transactions.runs.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def release_next(tx: Tx, left: Sequence[Run], ended: Sequence[Run], failed: Collection[str] = ()) -> None:
    """Make the runs behind these mailbox runs, which ended or parked, due after a pause. A run behind one that never
    ran waits for what that one waited for. `failed`: those of the ended runs that ended as error."""
    ids = sorted(run.id for run in left if run.in_mailbox)
    if not ids:
        return
    await tx.rows(tx.q.release_next_run, ids)
    if over := [run.id for run in ended if run.in_mailbox]:
        await tx.rows(tx.q.close_steps, over, [run_id for run_id in over if run_id in failed])
    if rows := feed_rows.at_rest(ended):
        await tx.many(tx.q.insert_feed, rows)


async def due_in(tx: Tx) -> int | None:
    """Return the milliseconds until the next held run is due; None if no run is."""
    [due] = await tx.rows(tx.q.next_due)
    return None if due["ms"] is None else int(due["ms"])


async def release(tx: Tx, limit: int) -> tuple[int, int | None]:
    """Release held runs that are due. Return how many, and the milliseconds until the next one is due."""
    found = await tx.rows(tx.q.due_runs, limit)
    released: list[str] = []
    if found:
        lanes = await lock_lanes(tx, {row["lane_key"] for row in found})
        for row in await tx.rows(tx.q.lock_runs, sorted(str(row["id"]) for row in found)):
            run = _rows.run(row)
            if run.held and run.status is Status.QUEUED:
                lanes[run.lane_key] = lanes[run.lane_key].released(int(row["now"]))
                released.append(run.id)
        await tx.rows(tx.q.release_held_runs, released)
        await save_lanes(tx, lanes.values())
    return len(released), await due_in(tx)


async def recover(tx: Tx) -> None:
    """Make runs due that are held behind an ended or deleted run."""
    await tx.rows(tx.q.recover_held_runs)
