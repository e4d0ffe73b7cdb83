"""A store on a database, and the same database by plain SQL: for guarantees about tables and views themselves."""

import sqlite3
import uuid
from pathlib import Path
from typing import Any

import asyncpg

from runyard.store import Store


class OpenDatabase:
    def __init__(self, store: Store, where: Path | str) -> None:
        self.store = store
        self.where = where

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a statement; ids are texts on both databases."""
        if isinstance(self.where, Path):
            connection = sqlite3.connect(self.where)
            connection.row_factory = sqlite3.Row
            connection.execute("pragma foreign_keys = on")
            try:
                with connection:
                    return [dict(row) for row in connection.execute(sql).fetchall()]
            finally:
                connection.close()
        other = await asyncpg.connect(self.where)
        try:
            found = await other.fetch(sql)
        finally:
            await other.close()
        return [{k: str(v) if isinstance(v, uuid.UUID) else v for k, v in row.items()} for row in found]

    async def values(self, sql: str) -> list[Any]:
        """The first column."""
        return [next(iter(row.values())) for row in await self.rows(sql)]
