"""The outbox of the memory store: a cursor for each run."""

from collections.abc import Mapping
from dataclasses import dataclass

from runyard.base.clock import Clock
from runyard.domain.runs.publication import Backlog, CursorAdvance
from runyard.domain.runs.run import Run, Status


@dataclass
class Cursor:
    updated_at: int
    next_seq: int = 1
    turn: int = 0
    is_open: bool = True


class Outbox:
    def __init__(self, clock: Clock) -> None:
        self._now = clock.now_ms
        self._cursors: dict[str, Cursor] = {}

    def open(self, run_id: str) -> None:
        self._cursors[run_id] = Cursor(self._now())

    def reopen(self, run_id: str) -> None:
        cursor = self._cursors[run_id]
        cursor.is_open = True
        cursor.turn += 1

    def drop(self, run_id: str) -> None:
        del self._cursors[run_id]

    def published(self, run_id: str) -> int:
        return self._cursors[run_id].next_seq - 1

    def backlog(self, runs: Mapping[str, Run], quiet_ms: int) -> list[Backlog]:
        due = self._now() - quiet_ms
        waiting = [(run_id, cursor) for run_id, cursor in self._cursors.items() if cursor.is_open]
        found = [
            Backlog(run_id, cursor.next_seq, cursor.turn, runs[run_id].last_seq, runs[run_id].status)
            for run_id, cursor in sorted(waiting, key=lambda each: each[1].updated_at)
            if cursor.updated_at <= due
        ]
        return [each for each in found if each.next_seq <= each.last_seq or each.status is not Status.RUNNING]

    def advance(self, mark: CursorAdvance) -> None:
        cursor = self._cursors.get(mark.run_id)
        if cursor is not None:
            cursor.next_seq = max(cursor.next_seq, mark.upto + 1)
            cursor.updated_at = self._now()
            cursor.is_open = cursor.is_open and mark.state is None and mark.turn != cursor.turn
