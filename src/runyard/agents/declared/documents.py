"""A collection of documents of an app, for `ctx.search`. It is checked when it is declared."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from runyard.domain.events import clean
from runyard.errors import Invalid
from runyard.store import Document

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


class Documents:
    """A collection of documents that the agents of an app search.

    Args:
        name: The name of the collection: 1 to 64 letters, digits, `-`, `_` or `.`.
        documents: The documents, each with `id`, `title` and `text`; or the path of a JSON file with a list of them.

    Raises:
        Invalid: If a document lacks a field, two have the same id, or the file cannot be read.

    Example:
        >>> books = runyard.Documents("books", [{"id": "b1", "title": "Tea", "text": "All about tea."}])
        >>> @runyard.agent
        ... async def librarian(ctx: runyard.Context) -> str:
        ...     return (await ctx.search("books", ctx.message.text))[0].title
        >>> run_agent_sync(librarian, "tea", documents=[books]).text
        'Tea'
    """

    name: str
    documents: tuple[Document, ...]

    def __init__(self, name: str, documents: Sequence[Document | Mapping[str, Any]] | str | Path) -> None:
        if not _NAME.fullmatch(name):
            raise Invalid("A collection's name has 1 to 64 letters, digits or any of - _ . and nothing else.")
        self.name = name
        self.documents = _read(name, documents) if isinstance(documents, str | Path) else _checked(name, documents)

    def __repr__(self) -> str:
        return f"Documents({self.name!r}, {len(self.documents)} documents)"


def _read(name: str, path: str | Path) -> tuple[Document, ...]:
    try:
        return _checked(name, msgspec.json.decode(Path(path).read_bytes(), type=list[Any]))
    except OSError as error:
        raise Invalid(f"Documents {name}: {path} cannot be read ({error.strerror}).") from None
    except msgspec.DecodeError:
        raise Invalid(f"Documents {name}: {path} is not a JSON list.") from None


def _checked(name: str, documents: Sequence[Document | Mapping[str, Any]]) -> tuple[Document, ...]:
    checked = tuple(_document(name, index, document) for index, document in enumerate(documents))
    if len({document.id for document in checked}) < len(checked):
        raise Invalid(f"Documents {name}: two documents have the same id; rename one.")
    return checked


def _document(name: str, index: int, document: Document | Mapping[str, Any]) -> Document:
    try:
        found = document if isinstance(document, Document) else msgspec.convert(dict(document), Document)
    except (msgspec.ValidationError, TypeError, ValueError):
        raise Invalid(f"Documents {name}: entry {index} needs an id, a title and a text.") from None
    return Document(clean(found.id), clean(found.title), clean(found.text))
