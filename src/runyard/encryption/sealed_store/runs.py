"""Sealed runs, waits and ledgers."""

from collections.abc import Callable, Mapping, Sequence

from runyard.domain.events import Draft
from runyard.domain.runs.ledger import Ledger
from runyard.domain.runs.run import Feedback, Run
from runyard.domain.wait import KeptEvent, Wait, WaitStatus
from runyard.encryption.sealed_store.sealing import Sealing
from runyard.store import RunFilter


class SealedRuns(Sealing):
    async def get_run(self, owner: str, run_id: str) -> Run:
        return self._seals.open_run(await self._store.get_run(owner, run_id))

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        return self._seals.open_run(await self._store.get_named_run(owner, external_id))

    async def get_runs(self, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
        found = await self._store.get_runs(owner, run_ids)
        return {run_id: self._seals.open_run(run) for run_id, run in found.items()}

    async def ancestors(self, run_id: str, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.ancestors(run_id, limit)]

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.list_runs(owner, where, before, limit)]

    async def open_runs(self, owner: str, thread_id: str) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.open_runs(owner, thread_id)]

    async def list_ended_runs(
        self, owner: str, where: RunFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.list_ended_runs(owner, where, before, limit)]

    # --- feedback

    async def put_feedback(self, feedback: Feedback) -> Feedback:
        return self._seals.open_feedback(await self._store.put_feedback(self._seals.seal_feedback(feedback)))

    async def read_feedback(self, run_ids: Sequence[str]) -> Mapping[str, Feedback]:
        found = await self._store.read_feedback(run_ids)
        return {run_id: self._seals.open_feedback(kept) for run_id, kept in found.items()}

    # --- waits

    async def get_wait(self, owner: str | None, wait_id: str) -> Wait:
        return self._seals.open_wait(await self._store.get_wait(owner, wait_id))

    async def list_waits(self, owner: str, before: str | None, limit: int, run_id: str | None = None) -> Sequence[Wait]:
        return [self._seals.open_wait(wait) for wait in await self._store.list_waits(owner, before, limit, run_id)]

    async def answer(
        self,
        owner: str | None,
        wait_id: str,
        state: WaitStatus,
        by: str,
        event: Draft,
        taken: KeptEvent | None = None,
    ) -> Wait:
        run_id = (await self._store.get_wait(owner, wait_id)).run_id
        sealed = self._seals.seal_draft(run_id, event)
        return self._seals.open_wait(await self._store.answer(owner, wait_id, state, by, sealed, taken))

    async def expire(
        self, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> tuple[Sequence[Wait], int | None]:
        expired, due_in = await self._store.expire(limit, self._seals.seal_expiry(event))
        return [self._seals.open_wait(wait) for wait in expired], due_in

    async def ended_children(self, limit: int, child: str | None = None) -> Sequence[tuple[str, Run]]:
        found = await self._store.ended_children(limit, child)
        return [(wait_id, self._seals.open_run(run)) for wait_id, run in found]

    async def orphaned_children(self, limit: int, parent: str | None = None) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.orphaned_children(limit, parent)]

    async def keep_event(self, event: KeptEvent, keep_ms: int) -> bool:
        return await self._store.keep_event(self._seals.seal_kept_event(event), keep_ms)

    async def matched_events(self, limit: int, target: str | None = None) -> Sequence[tuple[Wait, KeptEvent]]:
        found = await self._store.matched_events(limit, target)
        return [(self._seals.open_wait(wait), self._seals.open_kept_event(event)) for wait, event in found]

    # --- the ledger

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.mailbox_runs(owner, agent, before, limit)]

    async def read_ledger(self, run_id: str) -> Ledger:
        return self._seals.open_ledger(await self._store.read_ledger(run_id))
