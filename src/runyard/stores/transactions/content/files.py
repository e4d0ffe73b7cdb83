"""Files: uploads in chunks, and references to files. Triggers delete a file with its last reference."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from runyard.domain.content.file import DroppedContent, Place, StoredFile
from runyard.errors import NotFound
from runyard.store import Post
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


class FilesMissing(NotFound):
    """There is no file with that id."""

    # runs: the ids of the runs whose posts name unknown files
    def __init__(self, runs: Sequence[str] = ()) -> None:
        super().__init__()
        self.runs = runs


def not_found() -> NotFound:
    return NotFound("There is no file with that id.")


async def begin_upload(tx: Tx, owner: str, content_id: str, place: Place) -> None:
    await tx.rows(tx.q.begin_upload, content_id, owner, place)


async def write_chunk(tx: Tx, content_id: str, no: int, data: bytes | None) -> None:
    if not await tx.rows(tx.q.touch_upload, content_id):
        raise NotFound("There is no such upload.")
    if data is not None:
        await tx.rows(tx.q.put_chunk, content_id, no, data)


async def finish_upload(tx: Tx, file: StoredFile, digest: str, run_id: str | None = None) -> StoredFile:
    if not await tx.rows(tx.q.touch_upload, file.content_id):
        raise NotFound("There is no such upload.")
    known = await tx.rows(tx.q.known_content, file.owner, digest)
    if known:
        await drop_upload(tx, file.content_id)
        file = replace(file, content_id=str(known[0]["id"]), place=known[0]["place"])
    else:
        [row] = await tx.rows(tx.q.complete_content, file.content_id, digest, file.size)
        file = replace(file, place=row["place"])
    values = (file.id, file.owner, file.content_id, file.name, file.type, file.size, file.created_at)
    await tx.rows(tx.q.insert_file, *values)
    if run_id is not None and await tx.rows(tx.q.insert_run_use, file.id, run_id):
        await tx.rows(tx.q.use_files, file.owner, [file.id])
    return file


async def drop_upload(tx: Tx, content_id: str) -> None:
    await tx.rows(tx.q.drop_upload, content_id)
    await tx.rows(tx.q.abandon_upload, content_id)


async def get(tx: Tx, owner: str, file_id: str) -> StoredFile:
    for row in await tx.rows(tx.q.get_file, owner, file_id):
        return _rows.file(row)
    raise not_found()


async def read_chunk(tx: Tx, content_id: str, no: int) -> bytes | None:
    for row in await tx.rows(tx.q.read_chunk, content_id, no):
        return bytes(row["data"])
    return None


async def use_in_posts(tx: Tx, posts: Sequence[Post]) -> None:
    """Record that the messages of these posts, or their runs, refer to their files. Raise FilesMissing if one does not
    exist."""
    uses: list[tuple[Any, ...]] = []
    missing = []
    for post in posts:
        wanted = sorted(set(post.files))
        found = await tx.rows(tx.q.use_files, post.owner, wanted)
        if len(found) < len(wanted):
            missing.append(post.run_id)
        if post.message is not None:
            uses += [(file_id, post.message.id) for file_id in wanted]
        else:
            for file_id in wanted if len(found) == len(wanted) else ():
                await tx.rows(tx.q.insert_run_use, file_id, post.run_id)
    if missing:
        raise FilesMissing(missing)
    if uses:
        await tx.many(tx.q.insert_message_uses, uses)


async def sweep(tx: Tx, unused_ms: int, stale_ms: int, limit: int) -> int:
    unused = await tx.rows(tx.q.drop_unused_files, unused_ms, limit)
    stale = await tx.rows(tx.q.stale_uploads, stale_ms, limit)
    for row in stale:
        await drop_upload(tx, str(row["id"]))
    return len(unused) + len(stale)


async def dropped_contents(tx: Tx, limit: int) -> Sequence[DroppedContent]:
    return [DroppedContent(str(row["id"])) for row in await tx.rows(tx.q.dropped_contents, limit)]


async def forget_content(tx: Tx, content_id: str) -> None:
    await tx.rows(tx.q.forget_content, content_id)
