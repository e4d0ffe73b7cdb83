"""Sealed content: the memory of agents, files and checkpoints."""

from collections.abc import Mapping, Sequence

from runyard.domain.content.file import StoredFile
from runyard.domain.content.memory import Block, Passage
from runyard.domain.runs.run import Run
from runyard.encryption.sealed_store.sealing import Sealing
from runyard.errors import Sealed


class SealedContent(Sealing):
    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        return [self._seals.open_block(kept) for kept in await self._store.blocks(agent, owner)]

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        return self._seals.open_block(await self._store.put_block(self._seals.seal_block(block), is_shared))

    async def put_passage(self, passage: Passage) -> Passage:
        return self._seals.open_passage(await self._store.put_passage(self._seals.seal_passage(passage)))

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        return [self._seals.open_passage(kept) for kept in await self._store.passages(agent, owner, before, limit)]

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        """Refuse to search: sealed passages are in no index."""
        raise Sealed("Passages are encrypted (RUNYARD_ENCRYPTION_KEYS) and cannot be searched. List them instead.")

    # --- files

    async def write_chunk(self, content_id: str, no: int, data: bytes | None) -> None:
        sealed = None if data is None else self._seals.seal_chunk(content_id, no, data)
        await self._store.write_chunk(content_id, no, sealed)

    async def finish_upload(self, file: StoredFile, digest: str, run_id: str | None = None) -> StoredFile:
        sealed, keyed = self._seals.seal_file(file), self._seals.digest(file.owner, digest)
        return self._seals.open_file(await self._store.finish_upload(sealed, keyed, run_id))

    async def get_file(self, owner: str, file_id: str) -> StoredFile:
        return self._seals.open_file(await self._store.get_file(owner, file_id))

    async def read_chunk(self, content_id: str, no: int) -> bytes | None:
        kept = await self._store.read_chunk(content_id, no)
        return None if kept is None else self._seals.open_chunk(content_id, no, kept)

    # --- checkpoints

    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        return [self._seals.open_run(run) for run in await self._store.runs_without_checkpoint(limit)]

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        return await self._store.save_checkpoint(
            run, None if data is None else self._seals.seal_checkpoint(run.id, data)
        )

    async def read_checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        kept = await self._store.read_checkpoints(thread_id, run_id)
        return {key: self._seals.open_checkpoint(key, data) for key, data in kept.items()}
