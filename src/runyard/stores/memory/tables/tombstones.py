"""Tombstones of runs that retention deleted. They are deleted later themselves."""

from runyard.domain.runs.run import Run
from runyard.errors import NotFound
from runyard.store import Tombstone


class Tombstones:
    def __init__(self) -> None:
        self._stones: dict[str, tuple[Run, Tombstone]] = {}

    def bury(self, run: Run, now: int) -> None:
        stone = Tombstone(
            id=run.id,
            agent=run.agent,
            status=run.status.value,
            stop_reason=run.stop_reason,
            error_code=run.error_code,
            last_seq=run.last_seq,
            created_at=run.created_at,
            finished_at=run.finished_at or 0,
            dropped_at=now,
        )
        self._stones[run.id] = run, stone

    def find(self, owner: str, run_id: str) -> Tombstone:
        for run, stone in reversed(self._stones.values()):
            if run.owner == owner and run_id in (run.id, run.external_id):
                return stone
        raise NotFound

    def forget(self, before: int) -> None:
        self._stones = {key: each for key, each in self._stones.items() if each[1].dropped_at >= before}
