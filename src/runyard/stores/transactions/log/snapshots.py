"""Snapshots: states of runs from which readers continue."""

from runyard.store import Snapshot
from runyard.stores.transactions.tx import Tx


async def save(tx: Tx, run_id: str, kind: str, snapshot: Snapshot) -> None:
    await tx.rows(tx.q.put_snapshot, run_id, kind, snapshot.seq, snapshot.data)


async def newest(tx: Tx, run_id: str, kind: str, upto: int) -> Snapshot | None:
    for row in await tx.rows(tx.q.get_snapshot, run_id, kind, upto):
        return Snapshot(row["seq"], row["data"])
    return None
