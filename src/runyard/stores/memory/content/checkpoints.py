"""Copies of ended runs. A run that is superseded later is copied again."""

from collections.abc import Mapping, Sequence

from runyard.domain.runs.run import Run
from runyard.stores.memory.rows import Rows


class Checkpoints(Rows):
    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        ended = [run for run in self._runs.values() if run.face == "chats" and run.status.is_terminal]
        due = [run for run in ended if run.id not in self._saved]
        return sorted(due, key=lambda run: run.finished_at or 0)[:limit]

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        now = self._runs.get(run.id)
        if now is None or now.superseded_by != run.superseded_by:
            return False
        self._saved.add(run.id)
        if data is not None and run.thread_id is not None:
            self._checkpoints[run.id] = data
        return True

    async def read_checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        found = sorted(each for each in self._checkpoints if self._runs[each].thread_id == thread_id)
        return {each: self._checkpoints[each] for each in found if run_id in (None, each)}
