"""Pushes: addresses that get the updates of runs."""

from collections.abc import Sequence

import msgspec

from runyard.domain.push import Push
from runyard.errors import NotFound, TooMany
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx

MOST = "The run has too many push configurations. Delete one."


async def put(tx: Tx, push: Push, most: int, *, at_end: bool) -> Push:
    others = [row for row in await tx.rows(tx.q.list_pushes, push.run_id) if row["id"] != push.id]
    if len(others) >= most:
        raise TooMany(MOST)
    data = msgspec.json.encode(push.data)
    for row in await tx.rows(tx.q.put_push, push.run_id, push.id, push.kind, data, at_end):
        return _rows.push(row)
    raise NotFound("There is no run with that id.")


async def list_all(tx: Tx, run_id: str) -> Sequence[Push]:
    return [_rows.push(row) for row in await tx.rows(tx.q.list_pushes, run_id)]


async def drop(tx: Tx, run_id: str, push_id: str) -> None:
    await tx.rows(tx.q.drop_push, run_id, push_id)


async def due(tx: Tx, run_ids: Sequence[str] | None) -> tuple[bool, bool]:
    """Return whether any push has not ended, and whether one is due."""
    [row] = await tx.rows(tx.q.due_pushes, None if run_ids is None else list(run_ids))
    return bool(row["is_live"]), bool(row["is_due"])


async def claim(tx: Tx, limit: int, lease_ms: int, run_ids: Sequence[str] | None) -> Sequence[Push]:
    rows = await tx.rows(tx.q.claim_pushes, limit, lease_ms, None if run_ids is None else list(run_ids))
    return [_rows.push(row) for row in rows]


async def settle_push(tx: Tx, push: Push, wait_ms: int | None) -> Push | None:
    values = push.run_id, push.id, push.due_at, push.seq, push.failures, wait_ms
    for row in await tx.rows(tx.q.settle_push, *values):
        return _rows.push(row)
    return None
