"""Turns: the runs that one message started follow one another, each held until the one before it has ended or parked.

Who leaves says so in its own transaction (`passed`), which gives the next one a time; `give` then puts it into its
lane. Nobody waits for a lane while holding a run here: a held run's lane is locked by `give` alone.
"""

from collections.abc import Collection, Sequence

from runyard.domain.run import Run, Status
from runyard.stores import rows as _rows
from runyard.stores.transactions import feed
from runyard.stores.transactions.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def release_next(tx: Tx, left: Sequence[Run], ended: Sequence[Run], failed: Collection[str] = ()) -> None:
    """These runs of mailboxes are over or wait for people: whoever was held behind them is due after a pause. Behind a
    run that never had its turn one goes on waiting, for the same end. `failed`: those of the ended that ended badly."""
    ids = sorted(run.id for run in left if run.in_mailbox)
    if not ids:
        return
    await tx.rows(tx.q.release_next_run, ids)
    if over := [run.id for run in ended if run.in_mailbox]:
        await tx.rows(tx.q.close_steps, over, [run_id for run_id in over if run_id in failed])
    if rows := feed.at_rest(ended):
        await tx.many(tx.q.insert_feed, rows)


async def due_in(tx: Tx) -> int | None:
    """In how many milliseconds the next one is due; None if nobody is."""
    [due] = await tx.rows(tx.q.next_due)
    return None if due["ms"] is None else int(due["ms"])


async def release(tx: Tx, limit: int) -> tuple[int, int | None]:
    """Let those run whose turn has come; how many, and in how many milliseconds the next one is due."""
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
    """Those who wait for a run that is over (or gone) without having been told: their turn has come."""
    await tx.rows(tx.q.recover_held_runs)
