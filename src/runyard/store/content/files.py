"""Files: uploaded contents, stored in chunks, and what refers to them."""

from collections.abc import Sequence
from typing import Protocol

from runyard.domain.content.file import DroppedContent, Place, StoredFile


class FileStore(Protocol):
    """A file is deleted, with its bytes, in the transaction that deletes the last message or run that refers to it."""

    async def begin_upload(self, owner: str, content_id: str, place: Place) -> None:
        """Record a content that is being uploaded. It is visible to no reader."""

    async def write_chunk(self, content_id: str, no: int, data: bytes | None) -> None:
        """Store a chunk of an upload under its number, from 0; a repeated number replaces it. None records only that
        the upload goes on, for a chunk that was stored elsewhere. NotFound if there is no such upload."""

    async def finish_upload(self, file: StoredFile, digest: str, run_id: str | None = None) -> StoredFile:
        """Make the file visible. With `run_id`, that run refers to it.

        If the owner has a content of the same digest, the file gets that one, and the uploaded chunks are deleted.
        NotFound if there is no such upload."""

    async def drop_upload(self, content_id: str) -> None:
        """Delete an upload that was not finished. Do nothing if there is none."""

    async def get_file(self, owner: str, file_id: str) -> StoredFile:
        """Return a file; NotFound if the owner has none with that id."""

    async def read_chunk(self, content_id: str, no: int) -> bytes | None:
        """Return a chunk that is in the database, or None."""

    async def sweep_files(self, unused_ms: int, stale_ms: int, limit: int) -> int:
        """Delete up to `limit` files of that age that nothing ever referred to, and up to `limit` uploads in which
        nothing was written for that time. Return how many."""

    async def dropped_contents(self, limit: int) -> Sequence[DroppedContent]:
        """Return contents that are to be deleted from the object store."""

    async def forget_content(self, content_id: str) -> None:
        """Forget a dropped content, because it was deleted from the object store."""
