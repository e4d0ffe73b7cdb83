"""Copies of ended runs, as bytes that the engine does not read.

A copy is made from the log and may be late; the log is authoritative. `unsaved` finds every ended run without a copy,
so a copy that a process did not save before it died is made later.
"""

from collections.abc import Mapping, Sequence

from runyard.domain.runs.run import Run
from runyard.store import CheckpointStore


class Checkpoints:
    def __init__(self, store: CheckpointStore) -> None:
        self._store = store

    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        return await self._store.runs_without_checkpoint(limit)

    async def save(self, run: Run, data: bytes) -> bool:
        return await self._store.save_checkpoint(run, data)

    async def mark_saved(self, run: Run) -> bool:
        """Record that the copy of this run is saved outside of the database."""
        return await self._store.save_checkpoint(run, None)

    async def of_run(self, run: Run) -> bytes | None:
        if run.thread_id is None:
            return None
        return (await self._store.read_checkpoints(run.thread_id, run.id)).get(run.id)

    async def of_thread(self, thread_id: str) -> Mapping[str, bytes]:
        return await self._store.read_checkpoints(thread_id)
