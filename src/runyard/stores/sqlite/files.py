"""The files of an SQLite database: readable by the server's user alone, and open in one process at a time.

Two locks keep a second process out. One is on a file beside the database and carries the pid of its holder. The other
is on the database file itself, at a byte that SQLite never locks: it holds whatever path leads to the file, through a
symbolic link, a hard link or a bind mount.
"""

import fcntl
import os
import struct
from pathlib import Path
from types import TracebackType

from runyard.base.private_files import FILE_MODE, make_file, make_folder
from runyard.errors import StartupError

_OUR_BYTE = 1 << 62
_OFD_SETLK: int | None = getattr(fcntl, "F_OFD_SETLK", None)  # Linux


def make_database(path: Path) -> None:
    """Make an empty database file with mode 0600, unless it exists. SQLite gives `-wal` and `-shm` the same mode.

    Raises StartupError if the file cannot be written."""
    try:
        make_folder(path.parent)
        make_file(path)
    except OSError as error:
        raise StartupError(
            f"{path} cannot be opened for writing ({type(error).__name__}); check the permissions of the file and"
            " its folder."
        ) from None


class DatabaseLock:
    """Holds a database for this process until it is closed. Raises StartupError if another process holds it."""

    def __init__(self, path: Path) -> None:
        beside = path.with_name(path.name + ".lock")
        self._files = [os.open(beside, os.O_RDWR | os.O_CREAT, FILE_MODE)]
        try:
            fcntl.flock(self._files[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._lock_database(path)
        except OSError:
            holder = os.pread(self._files[0], 20, 0).decode("ascii", "replace").strip() or "unknown"
            self.close()
            raise StartupError(
                f"Another Runyard process (pid {holder}) has this SQLite database open. "
                "Stop it first, or use Postgres to run several processes."
            ) from None
        os.ftruncate(self._files[0], 0)
        os.pwrite(self._files[0], str(os.getpid()).encode(), 0)

    def _lock_database(self, path: Path) -> None:
        if _OFD_SETLK is None or not path.exists():
            return
        self._files.append(os.open(path, os.O_RDWR))
        fcntl.fcntl(self._files[-1], _OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _OUR_BYTE, 1, 0))

    def close(self) -> None:
        """Release both locks. SQLite must have closed the database: closing a file drops its own locks on it."""
        while self._files:
            os.close(self._files.pop())

    def __enter__(self) -> "DatabaseLock":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
