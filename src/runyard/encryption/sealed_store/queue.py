"""Sealed posts, steered messages and claims."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.conversations.thread import Message
from runyard.domain.events import Draft
from runyard.domain.runs.run import Run
from runyard.encryption.sealed_store.sealing import Sealing
from runyard.errors import RunyardError
from runyard.store import NO_VERSIONS, Accepted, AgentFilter, Beat, Claim, Ending, Post, Reaped, Room


class SealedQueue(Sealing):
    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        results = await self._store.accept([self._seals.seal_post(post) for post in posts], room)
        return [one if isinstance(one, RunyardError) else self._seals.open_accepted(one) for one in results]

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        return self._seals.open_accepted(await self._store.retry(owner, self._seals.seal_post(post), run_id))

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        return self._seals.open_accepted(await self._store.edit(owner, self._seals.seal_post(post), run_id))

    # --- steering

    async def steer(self, post: Post, received: Callable[[str], Draft], room: Room | None = None) -> Accepted:
        def sealed(run_id: str) -> Draft:
            return self._seals.seal_draft(run_id, received(run_id))

        return self._seals.open_accepted(await self._store.steer(self._seals.seal_post(post), sealed, room))

    async def interrupt(self, post: Post, grace_ms: int, ending: Ending, room: Room | None = None) -> Accepted:
        sealed = self._seals.seal_ending(ending)
        accepted = await self._store.interrupt(self._seals.seal_post(post), grace_ms, sealed, room)
        return self._seals.open_accepted(accepted)

    async def accept_if_idle(self, post: Post, room: Room | None = None) -> Accepted:
        return self._seals.open_accepted(await self._store.accept_if_idle(self._seals.seal_post(post), room))

    async def new_messages(self, run_id: str) -> Sequence[Message]:
        return [self._seals.open_message(kept) for kept in await self._store.new_messages(run_id)]

    # --- workers and claims

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        beat = await self._store.heartbeat(worker_id, ttl_ms)
        return replace(beat, holds=[self._seals.open_run(run) for run in beat.holds])

    async def claim(
        self,
        worker_id: str,
        limit: int,
        suspects: bool,
        versions: Mapping[str, str] = NO_VERSIONS,
        agents: AgentFilter | None = None,
    ) -> Sequence[Claim]:
        claims = await self._store.claim(worker_id, limit, suspects, versions, agents)
        return [self._seals.open_claim(claim) for claim in claims]

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        return await self._store.reap(limit, max_attempts, self._seals.seal_ending(ending))

    # --- cancel

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        sealed = self._seals.seal_ending(ending)
        return self._seals.open_run(await self._store.cancel(owner, run_id, grace_ms, sealed))

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        canceled = await self._store.abandon(limit, grace_ms, self._seals.seal_ending(ending))
        return [self._seals.open_run(run) for run in canceled]
