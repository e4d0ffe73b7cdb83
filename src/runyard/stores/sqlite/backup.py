"""Back up an SQLite database while it is in use, and restore it while no process uses it.

SQLite makes the copy in one read transaction: it is the database at one moment, and writers do not wait for it. The
copy gets its name when it is complete.
"""

import os
import sqlite3
from pathlib import Path

from runyard.base.private_files import make_file, make_folder
from runyard.errors import StartupError
from runyard.stores import migrations
from runyard.stores.sqlite.files import DatabaseLock


def backup(database: Path, copy: Path) -> int:
    """Write a copy of the database and return its size in bytes."""
    if not database.exists():
        raise StartupError(f"There is no database at {database}; check RUNYARD_DATABASE_URL.")
    if copy.exists():
        raise StartupError(f"{copy} exists already. Choose another name.")
    part = copy.with_name(copy.name + ".part")
    part.unlink(missing_ok=True)
    _copy(database, part)
    _check(part)
    os.replace(part, copy)
    return copy.stat().st_size


def restore(copy: Path, database: Path, replace: bool) -> str:
    """Replace the database, which no process may have open, by a copy. Return the version of its schema."""
    if not copy.exists():
        raise StartupError(f"There is no file {copy}; check the path.")
    version = _check(copy)
    database = database.resolve()
    make_folder(database.parent)
    with DatabaseLock(database):
        if database.exists() and not replace:
            raise StartupError(f"{database} exists already. Use --replace to overwrite it.")
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
    """Return the version of its schema; raise StartupError if it is damaged or not a Runyard database."""
    try:
        connection = sqlite3.connect(f"file:{copy}?mode=ro", uri=True)
        try:
            [sound] = connection.execute("pragma quick_check(1)").fetchone()
            [version] = connection.execute(migrations.VERSION_QUERY).fetchone()
        finally:
            connection.close()
    except (sqlite3.Error, TypeError):
        raise StartupError(f"{copy} is not a Runyard database; name a file that `runyard backup` wrote.") from None
    if sound != "ok":
        raise StartupError(f"{copy} is damaged; use another backup.")
    if version > migrations.HEAD:
        raise StartupError(
            f"{copy} has schema {version}, and this Runyard supports {migrations.HEAD}. Upgrade Runyard first."
        )
    return str(version)
