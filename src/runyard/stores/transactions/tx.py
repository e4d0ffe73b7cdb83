"""A transaction as a script sees it."""

from collections.abc import Sequence
from typing import Any, Protocol

from runyard.stores._queries import Queries
from runyard.stores._rows import Row


class Tx(Protocol):
    q: Queries

    async def rows(self, sql: str, *params: Any) -> Sequence[Row]:
        """Run one statement. A list parameter is one parameter (an array, or its JSON)."""

    async def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[Row]:
        """Run one statement for many rows of parameters, in order, and gather what it returns."""
