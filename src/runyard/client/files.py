"""Uploads and downloads of files, chunk by chunk."""

import asyncio
import mimetypes
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from runyard.client.connection import Connection, segment
from runyard.client.wire import FileInfo, read

CHUNK_BYTES = 256 * 1024
UNKNOWN_TYPE = "application/octet-stream"


class FileCalls:
    """The calls of a client for files."""

    _connection: Connection

    async def upload(self, data: bytes | Path, name: str | None = None, type: str | None = None) -> FileInfo:
        """Upload a file and return its id, for `post`.

        The server deletes a file that no message refers to within a day (`RUNYARD_UNUSED_FILE_SECONDS`).

        Args:
            data: The bytes, or the path of a file, which is read chunk by chunk.
            name: The name of the file. The default is that of the path.
            type: The media type, such as `"image/png"`. The default follows from the name.

        Raises:
            TooLarge: If the server accepts no file of this size.
            WrongType: If the server accepts no file of this type, or the bytes are of another one.

        Example:
            >>> file = await client.upload(b"12 pages", "report.txt")
            >>> run_id = await client.post(thread_id, "Read this.", files=[file.file_id])
        """
        shown = name or (data.name if isinstance(data, Path) else "file")
        kind = type or mimetypes.guess_type(shown)[0] or UNKNOWN_TYPE
        body = await self._connection.upload("/api/files", {"name": shown}, kind, lambda: _pieces(data))
        return read(body, FileInfo)

    async def download(self, file_id: str) -> bytes:
        """Return the bytes of a file.

        Args:
            file_id: The id of the file.

        Example:
            >>> file = await client.upload(b"12 pages", "report.txt")
            >>> await client.download(file.file_id)
            b'12 pages'
        """
        async with aclosing(self.download_chunks(file_id)) as chunks:
            return b"".join([chunk async for chunk in chunks])

    async def download_chunks(self, file_id: str) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file as they arrive, for files that are too large for the memory.

        Args:
            file_id: The id of the file.

        Example:
            >>> file = await client.upload(b"12 pages", "report.txt")
            >>> [len(chunk) async for chunk in client.download_chunks(file.file_id)]
            [8]
        """
        path = f"/api/files/{segment(file_id)}"
        async with self._connection.get(path) as response:
            async for chunk in response.aiter_bytes():
                yield chunk


def content_of(text: str, parts: Sequence[Mapping[str, Any]], files: Sequence[str]) -> dict[str, Any]:
    """Return the content of a message, as the server expects it; None for what it does not have."""
    has_text = bool(text) or not (parts or files)
    return {"content": text if has_text else None, "parts": list(parts) or None, "files": list(files) or None}


async def _pieces(data: bytes | Path) -> AsyncIterator[bytes]:
    if not isinstance(data, Path):
        for at in range(0, len(data), CHUNK_BYTES):
            yield data[at : at + CHUNK_BYTES]
        return
    with await asyncio.to_thread(data.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield piece
