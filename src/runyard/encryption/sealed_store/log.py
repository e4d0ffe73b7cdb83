"""Sealed logs, snapshots and pushes."""

from collections.abc import Mapping, Sequence

from runyard.domain.events import Event
from runyard.domain.push import Push
from runyard.domain.runs.append import Outcome, Part
from runyard.encryption.sealed_store.sealing import Sealing
from runyard.store import Snapshot


class SealedLog(Sealing):
    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        return await self._store.append([self._seals.seal_part(part) for part in parts])

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        return [self._seals.open_event(event) for event in await self._store.read(run_id, after, limit)]

    async def read_logs(self, run_ids: Sequence[str], upto: int) -> Mapping[str, Sequence[Event]]:
        logs = await self._store.read_logs(run_ids, upto)
        return {run_id: [self._seals.open_event(event) for event in events] for run_id, events in logs.items()}

    # --- snapshots

    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        await self._store.save_snapshot(run_id, kind, self._seals.seal_snapshot(run_id, kind, snapshot))

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        """Return None for a snapshot that does not open: it can be made again from the log."""
        kept = await self._store.snapshot(run_id, kind, upto)
        return None if kept is None else self._seals.open_snapshot(run_id, kind, kept)

    # --- pushes

    async def put_push(self, push: Push, most: int, *, at_end: bool) -> Push:
        return self._seals.open_push(await self._store.put_push(self._seals.seal_push(push), most, at_end=at_end))

    async def list_pushes(self, run_id: str) -> Sequence[Push]:
        return [self._seals.open_push(kept) for kept in await self._store.list_pushes(run_id)]

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        claimed, is_live = await self._store.claim_pushes(limit, lease_ms, run_ids)
        return [self._seals.open_push(kept) for kept in claimed], is_live

    async def settle_push(self, push: Push, wait_ms: int | None) -> Push | None:
        kept = await self._store.settle_push(push, wait_ms)
        return None if kept is None else self._seals.open_push(kept)
