"""Snapshots: states of runs from which readers continue."""

from runyard.store import Snapshot
from runyard.stores.memory.rows import Rows


class Snapshots(Rows):
    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        run = self._runs.get(run_id)
        if run is not None and run.last_seq >= snapshot.seq:
            self._snapshots.setdefault(run_id, {})[kind, snapshot.seq] = snapshot

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        kept = self._snapshots.get(run_id, {})
        fitting = [each for (its_kind, seq), each in kept.items() if its_kind == kind and seq <= upto]
        return max(fitting, key=lambda each: each.seq, default=None)
