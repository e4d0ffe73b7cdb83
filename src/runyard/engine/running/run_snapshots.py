"""Snapshots of a run that a worker of this process executes.

After every `EVERY` committed events the run's whole log is folded in the background. Before a long run
ends, its state is folded and saved once more, so that the next run of the thread and every other reader find it.
A run with fewer events costs nothing.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from runyard.domain.runs.run import Run
from runyard.engine.log.snapshots import AT_END, EVERY, FoldedLog, FoldKind, Snapshots
from runyard.telemetry.logger import get_logger

log = get_logger()

LAST_SECONDS = 3.0  # how long the end of a run waits for its last snapshot


class RunSnapshots:
    def __init__(self, snapshots: Snapshots, run: Run, kinds: Sequence[FoldKind[Any]]) -> None:
        self._snapshots = snapshots
        self._run = run
        self._kinds = kinds
        self._folds: list[FoldedLog[Any]] | None = None
        self._folding: asyncio.Task[None] | None = None
        self.next_at = EVERY - self._run.last_seq % EVERY  # committed events of this claim

    def reached(self, committed: int) -> int:
        """Fold what was committed, in the background. Return after how many committed events to call this again."""
        self.next_at = committed + EVERY
        if self._folding is None or self._folding.done():
            self._folding = asyncio.create_task(self._fold(), name=f"snapshot {self._run.id}")
        return self.next_at

    async def save_last(self, committed: int) -> None:
        """Save the state of a long run that is about to end, if that takes no longer than `LAST_SECONDS`."""
        if self._run.last_seq + committed < EVERY:
            return
        try:
            async with asyncio.timeout(LAST_SECONDS):
                if self._folding is not None:
                    await self._folding
                await self._fold(is_last=True)
        except TimeoutError:
            log.warning("snapshot.timed_out", run_id=self._run.id)

    def stop(self) -> None:
        if self._folding is not None:
            self._folding.cancel()

    async def _fold(self, is_last: bool = False) -> None:
        try:
            if self._folds is None:
                self._folds = await self._snapshots.opened(self._run, self._kinds)
            while await self._fold_next(self._folds):
                await self._save(self._folds)
            await self._save(self._folds, is_last)
        except Exception as error:  # a derived copy must not change how a run ends
            log.warning("snapshot.fold_failed", run_id=self._run.id, error=type(error).__name__)

    async def _fold_next(self, folds: Sequence[FoldedLog[Any]]) -> bool:
        """Take the next `EVERY` events. Return whether there may be more: the agent may write as fast as this reads."""
        upto = min(each.seq for each in folds) + EVERY
        await self._snapshots.advance(self._run, folds, upto)
        return min(each.seq for each in folds) >= upto

    async def _save(self, folds: Sequence[FoldedLog[Any]], is_last: bool = False) -> None:
        for each in folds:
            if each.is_due or (is_last and each.events >= AT_END):
                await self._snapshots.save(self._run, each.kind, each.snapshot())
