"""Pushes: addresses that get the updates of runs."""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.domain.push import Push
from runyard.errors import NotFound, TooMany
from runyard.stores.memory.rows import Rows
from runyard.stores.transactions.log.pushes import MOST


class Pushes(Rows):
    async def put_push(self, push: Push, most: int, *, at_end: bool) -> Push:
        return self._store_push(push, most, at_end=at_end)

    def _store_push(self, push: Push, most: int, *, at_end: bool) -> Push:
        if push.run_id not in self._runs:
            raise NotFound("There is no run with that id.")
        run, kept = self._runs[push.run_id], self._pushes.setdefault(push.run_id, {})
        if len(kept.keys() - {push.id}) >= most:
            raise TooMany(MOST)
        old = kept.get(push.id)
        seq = old.seq if old is not None else run.last_seq if at_end else 0
        is_over = run.finished_at is not None and seq >= run.last_seq
        now = self._now()
        found = kept[push.id] = replace(
            push,
            seq=seq,
            failures=0,
            due_at=None if is_over else now,
            created_at=now if old is None else old.created_at,
        )
        return found

    async def list_pushes(self, run_id: str) -> Sequence[Push]:
        return sorted(self._pushes.get(run_id, {}).values(), key=lambda push: push.id)

    async def drop_push(self, run_id: str, push_id: str) -> None:
        self._pushes.get(run_id, {}).pop(push_id, None)

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        live = [push for kept in self._pushes.values() for push in kept.values() if push.due_at is not None]
        due = [
            push
            for push in sorted(live, key=lambda push: (push.due_at or 0, push.run_id, push.id))
            if (push.due_at or 0) <= self._now()
            and push.seq < self._runs[push.run_id].last_seq
            and (run_ids is None or push.run_id in run_ids)
        ]
        claimed = [replace(push, due_at=self._now() + lease_ms) for push in due[:limit]]
        for push in claimed:
            self._pushes[push.run_id][push.id] = push
        return claimed, bool(live)

    async def settle_push(self, push: Push, wait_ms: int | None) -> Push | None:
        kept = self._pushes.get(push.run_id, {}).get(push.id)
        if kept is None or kept.due_at != push.due_at:
            return None
        due_at = None if wait_ms is None else self._now() + wait_ms
        found = replace(kept, seq=push.seq, failures=push.failures, due_at=due_at)
        self._pushes[push.run_id][push.id] = found
        return found
