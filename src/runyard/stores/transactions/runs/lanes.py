"""Lock lanes in order, and save them."""

from collections.abc import Iterable

from runyard.domain.runs.lane import Lane
from runyard.domain.runs.run import SUSPECT_ATTEMPTS
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


async def save_lanes(tx: Tx, lanes: Iterable[Lane]) -> None:
    """Save lanes whose order of runs may have changed, and update whether the first run of each is a suspect."""
    rows = [_rows.lane_values(lane) for lane in lanes]
    await tx.many(tx.q.save_lanes, rows)
    await tx.rows(tx.q.mark_suspects, [row[0] for row in rows], SUSPECT_ATTEMPTS)


async def lock_lanes(tx: Tx, keys: set[str]) -> dict[str, Lane]:
    return {row["key"]: _rows.lane(row) for row in await tx.rows(tx.q.lock_lanes, sorted(keys))}
