"""Threads, their messages, and links that share them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.events import Draft
from runyard.domain.run import Run
from runyard.domain.thread import Message, Share, Thread
from runyard.store.intake import IdempotencyKey


class Excerpt(Struct, frozen=True):
    """The first events of a run's log as a finished run of its own: the start of a thread forked inside that run."""

    run: Run
    message: Message | None
    drafts: Sequence[Draft]


class ThreadStore(Protocol):
    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        """Store a thread and return it. With a known key, return the thread created then; KeyReused if the digest
        differs. Conflict if the owner has a thread of the same `external_id`."""

    async def change_thread(self, owner: str, thread_id: str, metadata: str) -> Thread:
        """Replace the metadata of a chat and return it; NotFound if the owner has no chat with this id."""

    async def get_thread(self, owner: str, thread_id: str) -> Thread:
        """Return a thread; NotFound if the owner has no thread with this id."""

    async def get_named_thread(self, owner: str, external_id: str) -> Thread:
        """Return the thread that a client named `external_id`; NotFound if there is none."""

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, excerpt: Excerpt | None = None
    ) -> Thread:
        """Store a thread that continues from the end of `run_id`, and return it; the run stays unchanged. With a known
        key, return the thread created then. NotFound if the run belongs to no thread of this owner, RunActive until it
        has ended.

        With an `excerpt`, the thread continues from that. The excerpt is stored in the same commit as the first run of
        the thread, and `run_id`, from which it was taken, need not have ended."""

    async def list_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        """Return threads with an id below `before`, newest first."""

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        """Delete a thread with its messages, runs, events, approvals and checkpoints. RunActive while one of its runs
        has not ended, Conflict while it has forks."""

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        """Return all messages of a thread, oldest first."""

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        """Return these messages by id; unknown ids are left out."""

    async def set_title(self, owner: str, thread_id: str, title: str) -> None:
        """Name a chat; NotFound if the owner has no chat with this id."""

    async def titles(self, thread_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of those threads that were named, by id."""

    async def first_messages(self, thread_ids: Sequence[str]) -> Mapping[str, Message]:
        """Return the first message of each of these threads, by thread id; threads without messages are left out."""

    async def search_messages(
        self, owner: str, words: Sequence[str], before: str | None, limit: int
    ) -> Sequence[Message]:
        """Return the messages in the owner's chats that have a word with each of these beginnings, newest first, with
        an id below `before`. Sealed if messages are encrypted. A message is found as soon as it is stored and until it
        is deleted. On Postgres its first 100,000 characters are searched."""

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        """Return the messages before this run on its own branch: the question and the answer of each of the last
        `limit` ancestors, oldest first. Later messages that wait in the queue are not included."""

    async def create_share(self, share: Share, valid_ms: int, most: int) -> Share:
        """Store a link to a chat, which expires after `valid_ms`, and return it. Delete links that have expired.
        NotFound if the owner has no chat with this id, TooMany if it has `most` links. It is deleted with the chat."""

    async def list_shares(self, owner: str, thread_id: str) -> Sequence[Share]:
        """Return the owner's links to a thread that have not expired, newest first."""

    async def find_share(self, digest: str) -> Share:
        """Return the link with this digest; NotFound if there is none, or if it has expired."""

    async def drop_share(self, owner: str, thread_id: str, share_id: str) -> None:
        """Delete a link; NotFound if the owner has no such link to this thread."""
