"""Documents, and search by plain words: a document ranks by how many words of the query it contains."""

import re
from collections.abc import Iterable, Sequence

from runyard.store import Document, Hit
from runyard.stores.memory.rows import Rows


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def search(documents: Iterable[Document], query: str) -> list[Hit]:
    wanted = words(query)
    hits = [Hit(d.id, d.title, d.text, float(len(wanted & words(f"{d.title} {d.text}")))) for d in documents]
    return sorted((hit for hit in hits if hit.score), key=lambda hit: (-hit.score, hit.id))


class Documents(Rows):
    async def put_documents(self, collection: str, documents: Sequence[Document]) -> None:
        self._documents[collection] = list(documents)

    async def get_documents(self, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
        every = ((name, each) for name, documents in self._documents.items() for each in documents)
        return sorted(
            ((name, each) for name, each in every if each.id in ids), key=lambda named: (named[1].id, named[0])
        )

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        return search(self._documents.get(collection, ()), query)[:limit]
