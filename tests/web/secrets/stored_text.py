"""Where a text is found in a database: in every column of every table, and (SQLite) in the raw bytes of its files."""

import sqlite3
from pathlib import Path
from typing import Any

import asyncpg


async def columns_with(text: str, database_url: str) -> set[str]:
    """`table.column` of everything that holds the text."""
    if database_url.startswith("sqlite"):
        return _of_sqlite(text, Path(database_url.removeprefix("sqlite:///")))
    return await _of_postgres(text, database_url)


def files_with(text: str, folder: Path) -> set[str]:
    return {file.name for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()}


def _of_sqlite(text: str, path: Path) -> set[str]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        return {
            found for table in tables for found in _found(text, table, connection.execute(f"select * from {table}"))
        }
    finally:
        connection.close()


async def _of_postgres(text: str, dsn: str) -> set[str]:
    connection = await asyncpg.connect(dsn)
    try:
        tables = await connection.fetch(
            "select table_name from information_schema.tables"
            " where table_schema = 'public' and table_type = 'BASE TABLE'"
        )
        found: set[str] = set()
        for [table] in tables:
            found |= _found(text, table, await connection.fetch(f"select * from {table}"))
        return {name for name in found if not name.startswith("run_events_")}  # the partitions of run_events
    finally:
        await connection.close()


def _found(text: str, table: str, rows: Any) -> set[str]:
    found = {f"{table}.{name}" for row in rows for name in row.keys() if _holds(row[name], text)}  # noqa: SIM118
    if table.startswith(("message_words", "plain_messages")):  # SQLite's index of messages, and the view that it reads
        return {"messages.text"} if found else set()
    return {"passages.words"} if found and table.startswith("passage_words") else found  # SQLite's index


def _holds(value: Any, text: str) -> bool:
    return text.encode() in value if isinstance(value, bytes) else text in str(value)
