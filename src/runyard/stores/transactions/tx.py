"""A transaction as a script sees it."""

from collections.abc import Sequence
from typing import Any, Protocol

from runyard.stores.queries import Queries
from runyard.stores.rows import Row

Write = tuple[str, Sequence[tuple[Any, ...]]]


class Tx(Protocol):
    q: Queries

    async def rows(self, sql: str, *params: Any) -> Sequence[Row]:
        """Run one statement. A list parameter is one parameter (an array, or its JSON)."""

    async def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[Row]:
        """Run one statement for many rows of parameters, in order, and gather what it returns."""

    async def together(self, *writes: Write) -> None:
        """Run several statements for many rows each, at once: they must not touch the same rows. No rows, no
        statement."""
