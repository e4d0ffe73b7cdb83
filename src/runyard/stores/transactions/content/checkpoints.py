"""Checkpoints: copies of ended runs."""

from collections.abc import Mapping, Sequence

from runyard.domain.runs.run import Run
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


async def runs_without_checkpoint(tx: Tx, limit: int) -> Sequence[Run]:
    return [_rows.run(row) for row in await tx.rows(tx.q.unsaved_runs, limit)]


async def save(tx: Tx, run: Run, data: bytes | None) -> bool:
    if not await tx.rows(tx.q.mark_saved, run.id, run.superseded_by):
        return False
    if data is not None and run.thread_id is not None:
        await tx.rows(tx.q.put_checkpoint, run.id, run.thread_id, data)
    return True


async def read(tx: Tx, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
    return {str(row["run_id"]): row["data"] for row in await tx.rows(tx.q.read_checkpoints, thread_id, run_id)}
