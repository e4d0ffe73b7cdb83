"""What is going on: one look at everything that counts."""

from runyard.store import Overview
from runyard.stores.transactions import claims
from runyard.stores.transactions.tx import Tx


async def look(tx: Tx, most: int) -> Overview:
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
