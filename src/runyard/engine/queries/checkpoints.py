"""Copies of runs that have ended, in the words of whoever wants them: bytes that the engine does not read.

A copy is derived and may be late; the log is the truth. `unsaved` finds every ended run that has none, whoever ended
it, so that nothing depends on who was there.
"""

from collections.abc import Mapping, Sequence

from runyard.domain.run import Run
from runyard.store import Store


class Checkpoints:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        return await self._store.runs_without_checkpoint(limit)

    async def save(self, run: Run, data: bytes) -> bool:
        return await self._store.save_checkpoint(run, data)

    async def kept_elsewhere(self, run: Run) -> bool:
        return await self._store.save_checkpoint(run, None)

    async def of_run(self, run: Run) -> bytes | None:
        if run.thread_id is None:
            return None
        return (await self._store.read_checkpoints(run.thread_id, run.id)).get(run.id)

    async def of_thread(self, thread_id: str) -> Mapping[str, bytes]:
        return await self._store.read_checkpoints(thread_id)
