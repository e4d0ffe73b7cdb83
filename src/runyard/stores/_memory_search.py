"""Search by plain words, for the store that has no search engine: the more of the query's words, the better."""

import re
from collections.abc import Iterable

from runyard.store import Document, Hit


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def search(documents: Iterable[Document], query: str) -> list[Hit]:
    wanted = words(query)
    hits = [Hit(d.id, d.title, d.text, float(len(wanted & words(f"{d.title} {d.text}")))) for d in documents]
    return sorted((hit for hit in hits if hit.score), key=lambda hit: (-hit.score, hit.id))
