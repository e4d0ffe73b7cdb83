"""Chunks of files in an object store, through obstore: a folder, S3, Google Cloud Storage or Azure.

A chunk is one object, `<content id>/<number>`. It is written whole or not at all. In a folder, only the server's user
may read it. With encryption keys it is sealed and bound to its place, like a chunk in the database.

obstore's blocking calls run in threads. Its own async calls may abort the process if it ends while one is under way.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from runyard.base.private_files import make_folder, write_whole
from runyard.encryption.columns import CHUNK_DATA
from runyard.errors import StartupError, Unavailable, Unreadable

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

T = TypeVar("T")
AWAY = "The object store does not answer (RUNYARD_FILE_STORE). Try again."


class ObjectFiles:
    def __init__(self, url: str, ring: "KeyRing | None" = None) -> None:
        """`url`: `file:///folder`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`. Credentials
        come from the environment, as the provider's own tools expect them."""
        try:
            import obstore
            from obstore.store import from_url
        except ImportError:
            raise StartupError("RUNYARD_FILE_STORE needs obstore: pip install 'runyard[objects]'.") from None
        self._obstore = obstore
        self._ring = ring
        self._folder = Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None
        try:
            if self._folder is not None:
                make_folder(self._folder)
            self._store = from_url(url)
        except Exception as error:  # obstore raises its own errors; their text may hold a key
            raise StartupError(
                f"RUNYARD_FILE_STORE cannot be opened ({type(error).__name__}); check its address and the credentials."
            ) from None

    async def put(self, content_id: str, no: int, data: bytes) -> None:
        sealed = data if self._ring is None else CHUNK_DATA.seal(self._ring, data, content_id, str(no))
        await _in_thread(lambda: self._write(_path(content_id, no), sealed))

    def _write(self, path: str, data: bytes) -> None:
        if self._folder is None:
            self._obstore.put(self._store, path, data)
        else:  # obstore would give it the mode of the umask
            write_whole(self._folder / path, data)

    async def get(self, content_id: str, no: int) -> bytes | None:
        try:
            kept = await _in_thread(lambda: bytes(self._obstore.get(self._store, _path(content_id, no)).bytes()))
        except FileNotFoundError:
            return None
        if self._ring is not None:
            return CHUNK_DATA.open(self._ring, kept, content_id, str(no))
        if not kept.startswith(b"\0"):
            raise Unreadable
        return kept

    async def delete(self, content_id: str) -> None:
        def delete() -> None:
            for path in list(self._paths(f"{content_id}/")):
                with suppress(FileNotFoundError):  # another process deletes it too
                    self._obstore.delete(self._store, path)

        await _in_thread(delete)

    def _paths(self, prefix: str | None = None) -> Iterator[str]:
        for page in self._obstore.list(self._store, prefix=prefix):
            yield from (str(each["path"]) for each in page)

    async def reseal(self, ring: "KeyRing", decrypt: bool) -> tuple[int, int]:
        """Seal all chunks with the ring's first key, or unseal them. Return how many changed, and how many do not
        open."""
        ring = ring.accepting_plain()
        head = CHUNK_DATA.sealed_prefix(None if decrypt else ring.writer)

        def reseal() -> tuple[int, int]:
            done = unreadable = 0
            for path in self._paths():
                content_id, _, no = path.rpartition("/")
                if not no.isdigit():  # the draft of a write that was interrupted
                    continue
                kept = bytes(self._obstore.get(self._store, path).bytes())
                if kept.startswith(head) != decrypt:
                    continue
                try:
                    data = CHUNK_DATA.reseal(ring, kept, content_id, no, decrypt)
                except Unreadable:
                    unreadable += 1
                    continue
                self._write(path, data)
                done += 1
            return done, unreadable

        return await _in_thread(reseal)


def _path(content_id: str, no: int) -> str:
    return f"{content_id}/{no}"


async def _in_thread(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except FileNotFoundError:
        raise
    except Exception as error:  # obstore raises errors of its own and of the operating system
        raise Unavailable(f"{AWAY} ({type(error).__name__})") from None
