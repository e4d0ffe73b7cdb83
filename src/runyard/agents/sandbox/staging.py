"""The folder of a program on the host: what it is given, and what came back from it.

A program gets a copy of the workspace, because it runs as a user who may not even reach the workspace. What it leaves
comes back over a channel (`returned.py`) when none of its processes is left, and only if it ended by itself. Links and
devices that it made do not come back, so a tool of ours never follows one.

A stage that a killed server left is removed by the next one: a stage in use is locked, and the lock goes with its
process.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

import structlog

from runyard.private_files import remove_tree

log = structlog.get_logger()

BEFORE = ".old"  # what a workspace is called while it is exchanged
NEW = ".new"  # and what takes its place
_PREFIX = "runyard-sandbox-"
_YOUNG_SECONDS = 60.0  # a stage of that age may not be locked yet
# Read at the import: a server that then becomes another user may not reach its own files any more.
_SUPERVISOR = Path(__file__).with_name("supervise.py").read_bytes()


class Stage:
    """`folder` has `program` and `input`, which belong to user `uid` if one is given, and `out` for what comes back."""

    def __init__(self, program: str, workspace: Path | None, uid: int | None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._workspace = workspace
        self.out = self.folder / "out"
        given = self.folder / "input", self.folder / "program"
        for folder in (self.out, *given):
            folder.mkdir(mode=0o700)
        (given[1] / "main.py").write_bytes(program.encode("utf-8", "replace"))
        (given[1] / "supervise.py").write_bytes(_SUPERVISOR)
        if workspace is not None and workspace.is_dir():
            _copy(workspace, given[0])
        if uid is not None:
            for path in (self.folder, *given, *given[0].rglob("*"), *given[1].iterdir()):
                os.chown(path, uid, uid, follow_symlinks=False)

    @property
    def keeps(self) -> bool:
        return self._workspace is not None

    def keep(self) -> None:
        """Make the workspace what the program left. Nothing of it may be running any more."""
        if self._workspace is None:
            return
        fresh = self._workspace.with_name(self._workspace.name + NEW)
        old = self._workspace.with_name(self._workspace.name + BEFORE)
        for leftover in (fresh, old):
            remove_tree(leftover)
        fresh.mkdir(mode=0o700)
        _copy(self.out, fresh)
        if self._workspace.exists():
            self._workspace.rename(old)
        fresh.rename(self._workspace)
        remove_tree(old)

    def remove(self) -> None:
        _remove(self.folder)
        os.close(self._lock)


def remove_stale() -> None:
    """Remove the stages of servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # it is gone, or another user's
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_mtime < time.time() - _YOUNG_SECONDS:
                _remove(folder)
        except OSError:
            continue  # in use
        finally:
            os.close(lock)


def _remove(folder: Path) -> None:
    try:
        remove_tree(folder)
    except OSError as error:
        log.error("sandbox.cleanup_failed", error=type(error).__name__)


def _copy(source: Path, target: Path) -> None:
    for entry in os.scandir(source):
        there = target / entry.name
        if entry.is_dir(follow_symlinks=False):
            there.mkdir(mode=0o700)
            _copy(Path(entry.path), there)
        elif entry.is_file(follow_symlinks=False):
            _copy_file(entry.path, there)


def _copy_file(source: str, target: Path) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(reading, "rb") as original:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(writing, "wb") as copy:
            if stat.S_ISREG(os.fstat(reading).st_mode):
                shutil.copyfileobj(original, copy)
