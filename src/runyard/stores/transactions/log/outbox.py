"""Runs with unpublished events."""

from collections.abc import Sequence

from runyard.domain.runs.publication import Backlog
from runyard.domain.runs.run import Status
from runyard.stores.transactions.tx import Tx


async def unpublished(tx: Tx, quiet_ms: int, limit: int) -> Sequence[Backlog]:
    return [
        Backlog(str(row["run_id"]), row["next_seq"], row["turn"], row["last_seq"], Status(row["status"]))
        for row in await tx.rows(tx.q.unpublished, quiet_ms, limit)
    ]
