"""Documents with full-text search."""

from msgspec import Struct


class Document(Struct, frozen=True):
    """A text in a searchable collection."""

    id: str
    title: str
    text: str


class Hit(Struct, frozen=True):
    """A document that a search found."""

    id: str
    title: str
    text: str
    score: float
