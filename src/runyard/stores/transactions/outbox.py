"""How far runs are published."""

from collections.abc import Sequence

from runyard.domain.publication import Backlog, Mark
from runyard.domain.run import Status
from runyard.stores.transactions.tx import Tx


async def unpublished(tx: Tx, quiet_ms: int, limit: int) -> Sequence[Backlog]:
    return [
        Backlog(str(row["run_id"]), row["next_seq"], row["turn"], row["last_seq"], Status(row["status"]))
        for row in await tx.rows(tx.q.unpublished, quiet_ms, limit)
    ]


async def publish(tx: Tx, marks: Sequence[Mark]) -> None:
    """Sorted, so that two publishers of the same runs do not wait for each other in a circle."""
    ordered = sorted(marks, key=lambda mark: mark.run_id)
    await tx.together(
        (tx.q.advance_outbox, [(mark.run_id, mark.upto, mark.turn, mark.state) for mark in ordered]),
        (tx.q.move_states, [(mark.run_id, mark.state) for mark in ordered if mark.state is not None]),
    )
