"""Checkpoints: copies of finished runs of the chats face."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from runyard.domain.runs.run import Run


class CheckpointStore(Protocol):
    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        """Return ended runs of the chats face that have no checkpoint, or were superseded since, longest ended
        first."""

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        """Store the copy of an ended run and replace an earlier one. Without data, only record that a copy is stored
        elsewhere. Return False, and change nothing, if the run is deleted or was superseded since `run` was read."""

    async def read_checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        """Return the stored copies of a thread's runs, or of one of them, oldest run first."""
