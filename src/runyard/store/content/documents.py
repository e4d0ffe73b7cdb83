"""Collections of documents with full-text search."""

from collections.abc import Sequence
from typing import Protocol

from runyard.domain.content.document import Document, Hit


class DocumentStore(Protocol):
    async def put_documents(self, collection: str, documents: Sequence[Document]) -> None:
        """Replace all documents of a collection."""

    async def get_documents(self, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
        """Return the documents with these ids, each with the name of its collection; unknown ids are left out."""

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        """Return the documents that contain any word of the query, best first. Any text is a valid query."""
