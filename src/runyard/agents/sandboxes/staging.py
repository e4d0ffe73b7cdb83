"""The folder that a program gets: a copy of the workspace, whose changes come back only if the program ended by itself.

A copy, because the program runs as a user who may not even reach the workspace, and because what it leaves behind is
looked at only when none of its processes is left: only plain files and folders are taken back, so that a link or a
device that it made never gets where a tool of ours would follow it.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

BEFORE = ".old"  # what a workspace is called while it is exchanged
NEW = ".new"  # and what takes its place


class Stage:
    """`folder` has `program/main.py` and `work`. Belongs to user `uid`, if one is given."""

    def __init__(self, program: str, workspace: Path | None, uid: int | None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="runyard-sandbox-"))
        self.work = self.folder / "work"
        self._workspace = workspace
        self.work.mkdir(mode=0o700)
        (self.folder / "program").mkdir(mode=0o700)
        (self.folder / "program" / "main.py").write_bytes(program.encode("utf-8", "replace"))  # in a 0700 folder
        if workspace is not None and workspace.is_dir():
            _copy(workspace, self.work)
        if uid is not None:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, uid, uid, follow_symlinks=False)

    def size(self, most_files: int) -> tuple[int, int]:
        """How many entries there are and what they add up to; stops counting soon after `most_files`."""
        count = total = 0
        for entry in _entries(self.work):
            count += 1
            if count > most_files:
                break
            try:
                total += entry.stat(follow_symlinks=False).st_size
            except OSError:
                continue  # it is gone
        return count, total

    def keep(self) -> None:
        """Make the workspace what the program left. Nothing of it may be running any more."""
        if self._workspace is None:
            return
        _open_up(self.work)
        fresh = self._workspace.with_name(self._workspace.name + NEW)
        old = self._workspace.with_name(self._workspace.name + BEFORE)
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        _copy(self.work, fresh)
        if self._workspace.exists():
            self._workspace.rename(old)
        fresh.rename(self._workspace)
        shutil.rmtree(old, ignore_errors=True)

    def remove(self) -> None:
        _open_up(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Everything below, links not followed; what vanishes or is closed meanwhile is left out."""
    try:
        with os.scandir(folder) as found:
            for entry in found:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    yield from _entries(Path(entry.path))
    except OSError:
        return


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


def _open_up(folder: Path) -> None:
    """A program may close its folders to us, if we are not root."""
    try:
        folder.chmod(0o700)
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                _open_up(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                os.chmod(entry.path, 0o600)
    except OSError:
        return
