"""Copies of an SQLite database: made while it is in use, and put back while nobody uses it.

A copy is made through SQLite itself, inside of one read transaction: it is the database as it was at one moment,
whatever is written meanwhile, and writers do not wait for it. It appears under its name when it is whole.
"""

import os
import sqlite3
from pathlib import Path

from runyard.errors import StartupError
from runyard.private_files import make_file, make_folder
from runyard.stores import migrations
from runyard.stores.sqlite.files import DatabaseLock


def backup(database: Path, copy: Path) -> int:
    """Write a copy of the database; its size in bytes."""
    if not database.exists():
        raise StartupError(f"There is no database at {database}.")
    if copy.exists():
        raise StartupError(f"{copy} is there already; give another name.")
    part = copy.with_name(copy.name + ".part")
    part.unlink(missing_ok=True)
    _copy(database, part)
    _check(part)
    os.replace(part, copy)
    return copy.stat().st_size


def restore(copy: Path, database: Path, replace: bool) -> str:
    """Put a copy in the place of the database, which no process may have open; the version of its schema."""
    if not copy.exists():
        raise StartupError(f"There is no file {copy}.")
    version = _check(copy)
    database = database.resolve()
    make_folder(database.parent)
    with DatabaseLock(database):
        if database.exists() and not replace:
            raise StartupError(f"{database} is there already; say --replace to lose it.")
        part = database.with_name(database.name + ".part")
        part.unlink(missing_ok=True)
        _copy(copy, part)
        for rest in ("-wal", "-shm"):
            database.with_name(database.name + rest).unlink(missing_ok=True)
        os.replace(part, database)
    return version


def _copy(source: Path, target: Path) -> None:
    """Copy in one step: a copy in many steps starts again at every write. The copy has mode 0600."""
    make_file(target)
    try:
        read = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        write = sqlite3.connect(target)
        try:
            read.execute("pragma busy_timeout = 5000")
            read.backup(write, pages=-1)
        finally:
            write.close()
            read.close()
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise StartupError(f"{source} could not be copied ({type(error).__name__}).") from None
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _check(copy: Path) -> str:
    """The version of its schema; StartupError if it is damaged, or not ours."""
    try:
        connection = sqlite3.connect(f"file:{copy}?mode=ro", uri=True)
        try:
            [sound] = connection.execute("pragma quick_check(1)").fetchone()
            [version] = connection.execute(migrations.VERSION_QUERY).fetchone()
        finally:
            connection.close()
    except (sqlite3.Error, TypeError):
        raise StartupError(f"{copy} is not a database of Runyard.") from None
    if sound != "ok":
        raise StartupError(f"{copy} is damaged.")
    if version > migrations.HEAD:
        raise StartupError(f"{copy} has schema {version}, and this Runyard knows {migrations.HEAD}: upgrade it first.")
    return str(version)
