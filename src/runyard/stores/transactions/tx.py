"""The transaction that a script gets."""

from collections.abc import Sequence
from typing import Any, Protocol

from runyard.stores.query_names import Queries
from runyard.stores.rows import Row

Write = tuple[str, Sequence[tuple[Any, ...]]]


class Tx(Protocol):
    """A transaction, with the named statements of its database in `q`."""

    q: Queries

    async def rows(self, sql: str, *params: Any) -> Sequence[Row]:
        """Run one statement and return its rows. A list is one parameter (an array, or its JSON)."""

    async def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[Row]:
        """Run one statement for many rows of parameters, in order, and return all rows."""

    async def together(self, *writes: Write) -> None:
        """Run several statements at once, each for many rows. They must not touch the same rows. A statement without
        rows is skipped."""
