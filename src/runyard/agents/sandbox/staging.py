"""The folder of a program on the host: its input, and the files that it sends back.

A program gets a copy of the workspace, because its user may have no access to the workspace itself. Its files come back
over a channel (`received_files.py`) after its last process has ended, and only if it ended by itself. Links and devices
do not come back, so our tools never follow one.

A stage in use is locked, and the lock ends with its process. So the next server removes the stages of a killed one.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

from runyard.base.private_files import remove_tree
from runyard.telemetry.logger import get_logger

log = get_logger()

BEFORE = ".old"  # suffix of the old workspace while it is replaced
NEW = ".new"  # suffix of the new one
_PREFIX = "runyard-sandbox-"
_YOUNG_SECONDS = 60.0  # a stage that is younger may not be locked yet
# Read at import: a server that changes its user afterwards may not be able to read its own files.
_SUPERVISOR = Path(__file__).with_name("supervise.py").read_bytes()


class Stage:
    """A temporary folder with `program` and `input`, owned by `uid` if given, and `out` for the files sent back."""

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
        """Replace the workspace with the files of the program. No process of it may be running."""
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
            continue  # removed meanwhile, or another user's
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
