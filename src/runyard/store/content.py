"""Content that belongs to no run alone: agents and their memory, documents, files, checkpoints."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from runyard.domain.content.document import Document, Hit
from runyard.domain.content.file import DroppedContent, Place, StoredFile
from runyard.domain.content.memory import Block, Passage
from runyard.domain.content.profile import Profile
from runyard.domain.runs.run import Run


class AgentStore(Protocol):
    """Agents as rows, their sessions in conversations, and their memory.

    Memory belongs to an agent and an owner: the owner of the conversations in which the agent learned it, or
    EVERY_OWNER for an agent that is declared as shared.
    """

    async def declare_agents(self, profiles: Sequence[Profile]) -> None:
        """Store a row for each agent that code declares. An existing row keeps its active flag and its memory."""

    async def create_agent(self, profile: Profile) -> Profile:
        """Store an agent and return it; Conflict if the id is taken."""

    async def get_agent(self, caller: str, agent: str) -> Profile:
        """Return an agent of the caller or one that code declares, active or not; NotFound if there is none."""

    async def find_agent(self, agent: str) -> Profile | None:
        """Look up an agent without an ownership check. For workers only."""

    async def list_agents(
        self, caller: str, after: str | None, limit: int, inactive: bool = False
    ) -> Sequence[Profile]:
        """Return the agents that the caller may use, by id. Inactive agents are included only on request."""

    async def change_agent(self, caller: str, profile: Profile) -> Profile:
        """Update an agent, except its id and owner. NotFound as for `get_agent`."""

    async def session(self, agent: str, thread_id: str) -> str | None:
        """Return the session that the agent's next run in this conversation resumes."""

    async def save_session(self, agent: str, thread_id: str, session_id: str) -> None:
        """Store that session. It is deleted with the conversation; do nothing if the conversation is deleted."""

    # --- memory

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        """Return the agent's own blocks for this owner by label, then the blocks shared with it for this owner."""

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        """Create or replace the agent's block of that owner and label. NotFound: no such agent."""

    async def drop_block(self, agent: str, owner: str, label: str) -> None:
        """Delete a block; NotFound if there is none."""

    async def link_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        """Let another agent read a block when it works for `reader_owner`. NotFound unless both exist and the block is
        shared. A block of one owner is never read for another owner, linked or not."""

    async def unlink_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        """Remove that link; do nothing if there is none."""

    async def put_passage(self, passage: Passage) -> Passage:
        """Store a passage and return it. With a known cause, return the passage stored then. NotFound: no such
        agent."""

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        """Return this agent's passages for this owner, newest first."""

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        """Return passages of this agent and owner that contain the query, ignoring case, then those that contain any
        word of it, best first."""

    async def drop_passage(self, agent: str, owner: str, passage_id: str) -> None:
        """Delete a passage; NotFound if there is none."""


class DocumentStore(Protocol):
    """Collections of documents with full-text search."""

    async def put_documents(self, collection: str, documents: Sequence[Document]) -> None:
        """Replace all documents of a collection."""

    async def get_documents(self, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
        """Return the documents with these ids, each with the name of its collection; unknown ids are left out."""

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        """Return the documents that contain any word of the query, best first. Any text is a valid query."""


class FileStore(Protocol):
    """Files: uploaded contents, stored in chunks, and what refers to them.

    A file is deleted, with its bytes, in the transaction that deletes the last message or run that refers to it."""

    async def begin_upload(self, owner: str, content_id: str, place: Place) -> None:
        """Record a content that is being uploaded. It is visible to no reader."""

    async def write_chunk(self, content_id: str, no: int, data: bytes | None) -> None:
        """Store a chunk of an upload under its number, from 0; a repeated number replaces it. None records only that
        the upload continues, for a chunk that was stored elsewhere. NotFound if there is no such upload."""

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


class CheckpointStore(Protocol):
    """Checkpoints: copies of finished runs of the chats face."""

    async def runs_without_checkpoint(self, limit: int) -> Sequence[Run]:
        """Return ended runs of the chats face that have no checkpoint, or were superseded since, longest ended
        first."""

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        """Store the copy of an ended run and replace an earlier one. Without data, only record that a copy is stored
        elsewhere. Return False, and change nothing, if the run is deleted or was superseded since `run` was read."""

    async def read_checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        """Return the stored copies of a thread's runs, or of one of them, oldest run first."""
