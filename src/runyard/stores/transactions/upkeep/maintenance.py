"""The database as a whole: counts over all owners, and routine maintenance."""

from runyard.store import Overview
from runyard.stores.transactions.queue import claims
from runyard.stores.transactions.tx import Tx


async def maintain(tx: Tx) -> None:
    await tx.rows(tx.q.maintain)


async def end_stuck_sessions(tx: Tx) -> int:
    return len(await tx.rows(tx.q.end_stuck_sessions))


async def overview(tx: Tx, most: int) -> Overview:
    [row] = await tx.rows(tx.q.overview, most)
    return Overview(
        queued=row["queued"],
        ready_since=row["ready_since"],
        running=row["running"],
        approvals=row["approvals"],
        behind=row["behind"],
        behind_since=row["behind_since"],
        workers=await claims.list_workers(tx),
        now=row["now"],
        size=row["size"],
        version=row["version"],
        xmin_age=row["xmin_age"],
    )
