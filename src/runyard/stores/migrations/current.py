"""Read the schema revision of a database without changing it, for `migrate --check` and `doctor`."""

from pathlib import Path

from runyard.errors import StartupError
from runyard.stores.migrations import VERSION_QUERY


async def current(url: str) -> str | None:
    """Return the revision, or None if there is no schema; raise StartupError if the database cannot be read."""
    scheme, _, path = url.partition(":///")
    return _of_sqlite(Path(path)) if scheme == "sqlite" else await _of_postgres(url)


def _of_sqlite(path: Path) -> str | None:
    import sqlite3

    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            row = connection.execute(VERSION_QUERY).fetchone()
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None
        raise StartupError(f"{path} cannot be read ({error}).") from None
    except sqlite3.DatabaseError:
        raise StartupError(f"{path} is not an SQLite database; set RUNYARD_DATABASE_URL to another file.") from None
    return str(row[0]) if row else None


async def _of_postgres(url: str) -> str | None:
    try:
        import asyncpg
    except ImportError:
        raise StartupError("Postgres needs asyncpg: pip install 'runyard[postgres]'.") from None
    try:
        connection = await asyncpg.connect(url, timeout=5)
        try:
            version = await connection.fetchval(VERSION_QUERY)
        except asyncpg.UndefinedTableError:
            return None
        finally:
            await connection.close()
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError, ValueError) as error:
        raise StartupError(
            f"Postgres does not answer ({type(error).__name__}). Check RUNYARD_DATABASE_URL and that the server runs."
        ) from None
    return None if version is None else str(version)
