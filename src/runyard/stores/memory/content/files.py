"""Files. One is deleted with the last message or run that refers to it: every operation first deletes those files."""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.domain.content.file import DroppedContent, Place, StoredFile
from runyard.errors import NotFound
from runyard.store import Post
from runyard.stores.memory.rows import Content, Rows


class Files(Rows):
    async def begin_upload(self, owner: str, content_id: str, place: Place) -> None:
        self._contents[content_id] = Content(owner, place, self._now())

    async def write_chunk(self, content_id: str, no: int, data: bytes | None) -> None:
        upload = self._upload(content_id)
        upload.touched_at = self._now()
        if data is not None:
            upload.chunks[no] = data

    async def finish_upload(self, file: StoredFile, digest: str, run_id: str | None = None) -> StoredFile:
        self._drop_unused()
        upload = self._upload(file.content_id)
        for content_id, each in self._contents.items():
            if (each.owner, each.digest, each.state) == (file.owner, digest, "ready"):
                await self.drop_upload(file.content_id)
                file = replace(file, content_id=content_id, place=each.place)
                break
        else:
            upload.state, upload.digest = "ready", digest
            file = replace(file, place=upload.place)
        self._files[file.id] = file
        if run_id in self._runs:
            self._uses.setdefault(file.id, []).append(run_id)
        return file

    async def drop_upload(self, content_id: str) -> None:
        content = self._contents.get(content_id)
        if content is not None and content.state == "uploading":
            self._drop_content(content_id)

    async def get_file(self, owner: str, file_id: str) -> StoredFile:
        self._drop_unused()
        file = self._files.get(file_id)
        if file is None or file.owner != owner:
            raise NotFound("There is no file with that id.")
        return file

    async def read_chunk(self, content_id: str, no: int) -> bytes | None:
        self._drop_unused()
        content = self._contents.get(content_id)
        return None if content is None else content.chunks.get(no)

    async def sweep_files(self, unused_ms: int, stale_ms: int, limit: int) -> int:
        self._drop_unused()
        now = self._now()
        never = [each for each in self._files.values() if each.id not in self._uses]
        never = sorted((each for each in never if each.created_at <= now - unused_ms), key=lambda each: each.created_at)
        for file in never[:limit]:
            self._drop_file(file)
        late = [key for key, each in self._contents.items() if each.state == "uploading"]
        late = [key for key in late if self._contents[key].touched_at <= now - stale_ms][:limit]
        for content_id in late:
            self._drop_content(content_id)
        return len(never[:limit]) + len(late)

    async def dropped_contents(self, limit: int) -> Sequence[DroppedContent]:
        self._drop_unused()
        dropped = [DroppedContent(key) for key, each in self._contents.items() if each.state == "dropped"]
        return dropped[:limit]

    async def forget_content(self, content_id: str) -> None:
        content = self._contents.get(content_id)
        if content is not None and content.state == "dropped":
            del self._contents[content_id]

    def _upload(self, content_id: str) -> Content:
        upload = self._contents.get(content_id)
        if upload is None or upload.state != "uploading":
            raise NotFound("There is no such upload.")
        return upload

    def _has_files(self, post: Post) -> bool:
        self._drop_unused()
        found = [self._files.get(each) for each in post.files]
        return all(file is not None and file.owner == post.owner for file in found)

    def _use_files(self, post: Post) -> None:
        for file_id in set(post.files):
            self._uses.setdefault(file_id, []).append(post.message.id if post.message else post.run_id)

    def _drop_unused(self) -> None:
        """Delete the files whose messages and runs are all deleted."""
        for file_id, users in list(self._uses.items()):
            self._uses[file_id] = users = [each for each in users if each in self._runs or each in self._messages]
            if not users:
                self._drop_file(self._files[file_id])

    def _drop_file(self, file: StoredFile) -> None:
        del self._files[file.id]
        self._uses.pop(file.id, None)
        if all(each.content_id != file.content_id for each in self._files.values()):
            self._drop_content(file.content_id)

    def _drop_content(self, content_id: str) -> None:
        content = self._contents[content_id]
        if content.place == "database":
            del self._contents[content_id]
        else:
            content.state, content.touched_at = "dropped", self._now()
