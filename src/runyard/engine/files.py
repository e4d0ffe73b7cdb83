"""Uploads and downloads of files, chunk by chunk: a process never has a whole file in memory.

An upload becomes visible in one transaction, at its end. If its client or its process fails before, no reader has seen
anything, and a background loop deletes the chunks. The loop also deletes files that no message and no run ever referred
to, and contents in the object store that no file has any more.

A stored chunk begins with a zero byte, so that plain bytes never look like a sealed value.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from runyard.base.clock import Clock
from runyard.base.ids import is_id, new_id
from runyard.domain.content.file import CHUNK_BYTES, OBJECT_BYTES, StoredFile, file_name, fits, is_allowed, media_type
from runyard.domain.content.parts import File, file_of
from runyard.domain.events import clean
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.runs.run import Run
from runyard.errors import NotFound, RunyardError, TooLarge, Unavailable, WrongType
from runyard.store import FileStore
from runyard.telemetry.logger import get_logger

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

log = get_logger()

SWEEP_SECONDS = 30.0
BATCH = 100
PLAIN = b"\0"


class ObjectStore(Protocol):
    """Chunks in an object store, sealed if the server has encryption keys."""

    async def put(self, content_id: str, no: int, data: bytes) -> None: ...

    async def get(self, content_id: str, no: int) -> bytes | None: ...

    async def delete(self, content_id: str) -> None:
        """Delete all chunks of a content. Do nothing if there are none."""


class FileLimits(Struct, frozen=True):
    """Bytes of one file, accepted types such as `image/*,application/pdf`, how long an unused file is kept, and how
    long an upload may be silent."""

    most_bytes: int = 52_428_800
    types: str = "*/*"
    unused_seconds: float = 86_400
    stale_seconds: float = 600


class Files:
    def __init__(
        self,
        store: FileStore,
        clock: Clock,
        limits: FileLimits,
        *,
        objects: ObjectStore | None = None,
        redactor: "Redactor" = NO_REDACTION,
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._objects = objects
        self._redactor = redactor

    async def upload(
        self, owner: str, name: str, kind: str, body: AsyncIterable[bytes], run_id: str | None = None
    ) -> StoredFile:
        """Store a file of an owner. With `run_id`, that run made it and refers to it, and any type is accepted."""
        checked = media_type(kind)
        if checked is None or (run_id is None and not is_allowed(checked, self._limits.types)):
            raise WrongType(f"Files of this type are not accepted. Accepted types: {self._limits.types}.")
        content_id = new_id()
        await self._store.begin_upload(owner, content_id, "database" if self._objects is None else "objects")
        try:
            size, digest = await self._write(content_id, checked, body)
            file = StoredFile(
                id=new_id(),
                owner=owner,
                name=file_name(self._redactor.text(clean(name))),
                type=checked,
                size=size,
                content_id=content_id,
                created_at=self._clock.now_ms(),
            )
            return await self._store.finish_upload(file, digest, run_id)
        except BaseException:
            with suppress(RunyardError):  # the loop deletes it later
                await asyncio.shield(self._store.drop_upload(content_id))
            raise

    async def _write(self, content_id: str, kind: str, body: AsyncIterable[bytes]) -> tuple[int, str]:
        """Store the chunks. Return the number of bytes and their digest."""
        digest, size, no = hashlib.sha256(), 0, 0
        buffer = bytearray(PLAIN)
        chunk_bytes = CHUNK_BYTES if self._objects is None else OBJECT_BYTES
        async for piece in body:
            size += len(piece)
            if size > self._limits.most_bytes:
                raise TooLarge(f"The file is too large. The limit is {self._limits.most_bytes} bytes.")
            digest.update(piece)
            buffer += piece
            while len(buffer) > chunk_bytes:
                await self._put(content_id, no, kind, bytes(buffer[: chunk_bytes + 1]))
                buffer = bytearray(PLAIN) + buffer[chunk_bytes + 1 :]
                no += 1
        if len(buffer) > 1 or no == 0:
            await self._put(content_id, no, kind, bytes(buffer))
        return size, digest.hexdigest()

    async def _put(self, content_id: str, no: int, kind: str, chunk: bytes) -> None:
        if no == 0 and not fits(kind, chunk[1:17]):
            raise WrongType(f"The content is not of the type {kind}. Send the type that the file has.")
        if self._objects is not None:
            await self._objects.put(content_id, no, chunk)
        await self._store.write_chunk(content_id, no, chunk if self._objects is None else None)

    async def get(self, owner: str, file_id: str) -> StoredFile:
        return await self._store.get_file(owner, file_id)

    async def chunks(self, file: StoredFile) -> AsyncIterator[bytes]:
        """Yield the bytes of a file. NotFound if it is deleted meanwhile."""
        left, no = file.size, 0
        while left > 0:
            chunk = await self._chunk(file, no)
            if chunk is None:
                raise NotFound("The file has been deleted.")
            left -= len(chunk) - 1
            no += 1
            yield chunk[1:]

    async def _chunk(self, file: StoredFile, no: int) -> bytes | None:
        if file.place == "database":
            return await self._store.read_chunk(file.content_id, no)
        if self._objects is None:
            raise Unavailable("The file is in an object store. Set RUNYARD_FILE_STORE.")
        return await self._objects.get(file.content_id, no)

    async def read(self, owner: str, file_id: str) -> bytes:
        """Return a whole file, for an agent or a model."""
        if not is_id(file_id):
            raise NotFound("There is no file with that id.")
        return b"".join([chunk async for chunk in self.chunks(await self.get(owner, file_id))])

    async def attach(self, run: Run, name: str, kind: str, data: bytes) -> File:
        """Store a file that a run made."""

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, len(data), CHUNK_BYTES):
                yield data[at : at + CHUNK_BYTES]

        file = await self.upload(run.owner, name, kind, pieces(), run.id)
        return file_of(file.id, file.name, file.type, file.size)

    async def run(self) -> None:
        """Delete what no reader needs, until cancelled."""
        while True:
            try:
                await self.sweep()
            except RunyardError as error:
                log.warning("uploads.cleanup_failed", code=error.code)
            await asyncio.sleep(min(SWEEP_SECONDS, self._limits.stale_seconds))

    async def sweep(self) -> None:
        """Delete failed uploads, files that were never used, and objects without a file."""
        unused_ms, stale_ms = int(self._limits.unused_seconds * 1000), int(self._limits.stale_seconds * 1000)
        while await self._store.sweep_files(unused_ms, stale_ms, BATCH) >= BATCH:
            pass
        if self._objects is None:
            return
        for content in await self._store.dropped_contents(BATCH):
            await self._objects.delete(content.id)
            await self._store.forget_content(content.id)
