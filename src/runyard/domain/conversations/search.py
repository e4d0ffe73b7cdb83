"""Search in messages: the words of a query, and where a text has them. Titles of threads.

A word is a run of letters and digits. A text is found if each word of the query is the beginning of one of its words,
in any case. The databases follow the same rule with their indexes.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

_WORD = re.compile(r"[^\W_]+")
MOST_WORDS = 16
TITLE_CHARS = 80
AROUND_CHARS = 80


class Excerpt(Struct, frozen=True):
    """A piece of a text around the first place that was found. `marks` are the places in it: start and end."""

    text: str
    marks: list[tuple[int, int]]


def words_of(query: str) -> list[str]:
    """Return the words of a query, in lower case."""
    return list(dict.fromkeys(_WORD.findall(query.lower())))[:MOST_WORDS]


def has_words(text: str, words: Sequence[str]) -> bool:
    """Return whether a text has a word with each of these beginnings."""
    found = _WORD.findall(text.lower())
    return all(any(each.startswith(word) for each in found) for word in words)


def excerpt(text: str, words: Sequence[str]) -> Excerpt:
    """Return the piece of a text around the first word that begins like one of these, with all such words marked."""
    places = [each.span() for each in _WORD.finditer(text) if each[0].lower().startswith(tuple(words))]
    first = places[0][0] if places else 0
    start, end = max(0, first - AROUND_CHARS), min(len(text), first + 2 * AROUND_CHARS)
    while start > 0 and start < first and not text[start - 1].isspace():
        start += 1
    marks = [(max(left, start) - start, min(right, end) - start) for left, right in places if start <= left < end]
    return Excerpt(text[start:end], marks)


def title_of(text: str) -> str:
    """Return the first words of a message as the title of its thread."""
    line = " ".join(text[: 10 * TITLE_CHARS].split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut}\u2026"
