"""Run Alembic: on SQLite directly, on Postgres through asyncpg, one process at a time."""

from typing import Any
from urllib.parse import urlsplit

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from runyard.stores.migrations import FOLDER


def config(url: str) -> Config:
    made = Config()
    made.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    made.attributes["url"] = url
    return made


def upgrade(url: str, revision: str = "head") -> None:
    command.upgrade(config(url), revision)


def heads() -> list[str]:
    return list(ScriptDirectory.from_config(config("")).get_heads())


def is_sqlite(url: str) -> bool:
    return urlsplit(url).scheme == "sqlite"


def run_script(connection: Any, name: str) -> None:
    """Run one SQL file of many statements in the migration's transaction."""
    sql = (FOLDER / "versions" / f"{name}.{connection.dialect.name.replace('postgresql', 'postgres')}.sql").read_text()
    raw = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        import sqlite3

        statement = ""
        for line in sql.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                raw.execute(statement)
                statement = ""
    else:
        from sqlalchemy.util import await_only

        await_only(raw.execute(sql))
