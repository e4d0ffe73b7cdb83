"""Documents and full-text search."""

import re
from collections.abc import Sequence

from runyard.store import Document, Hit
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx

_WORD = re.compile(r"\w+")


async def put(tx: Tx, collection: str, documents: Sequence[Document]) -> None:
    await tx.rows(tx.q.delete_documents, collection)
    if documents:
        await tx.many(tx.q.insert_documents, [(collection, d.id, d.title, d.text) for d in documents])


async def get(tx: Tx, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
    if not ids:
        return []
    found = await tx.rows(tx.q.get_documents, list(ids))
    return [(row["collection"], Document(row["id"], row["title"], row["text"])) for row in found]


async def search(tx: Tx, collection: str, words: str, limit: int) -> Sequence[Hit]:
    return [_rows.hit(row) for row in await tx.rows(tx.q.search_documents, collection, words, limit)]


def words_of(query: str, most: int = 32) -> list[str]:
    """Return the words of a text: letters and digits only, so that no word is taken for an operator."""
    return list(dict.fromkeys(_WORD.findall(query.lower())))[:most]
