"""The workspace of a thread: the folder that its file tools use and that its programs get a copy of.

A path is relative and stays inside. It is opened part by part from the folder down without following links, so neither
`..` nor a link leads out, even if another process changes the folder meanwhile. A name that differs from an existing
one only by case is refused, because some file systems treat both as one. Sizes are limited.
"""

import asyncio
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

from runyard.agents.sandbox.staging import BEFORE, NEW
from runyard.agents.user_code.current_call import current_execution, workspaces
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.base.private_files import make_folder, remove_tree
from runyard.errors import StartupError, ToolError

FILE_BYTES = 1024 * 1024
FOLDER_BYTES = 64 * 1024 * 1024
FOLDER_FILES = 1000
_DEPTH = 16
_ID = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()


def check_writable(folder: Path) -> None:
    """Raise StartupError if the folder of all workspaces exists and this process may not write to it."""
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise StartupError(
            f"The folder {folder} for workspaces cannot be written by user {os.geteuid()}: change its owner"
            f" (chown {os.geteuid()} {folder}), or set RUNYARD_WORKSPACES to another folder."
        )


class Workspace:
    """The folder of a thread or run. Hold `lock` while it changes: a program's result replaces it as a whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.lock = _locks.setdefault(self.folder, asyncio.Lock())

    @classmethod
    def current(cls) -> "Workspace":
        """Return the workspace of the thread (or, without one, of the run) whose tool is being called."""
        execution = current_execution()
        if execution is None:
            raise ToolError("File tools work only inside a run.")
        made = cls.of(workspaces(), execution.run.thread_id or execution.run.id)
        before = made.folder.with_name(made.folder.name + BEFORE)
        if before.exists() and not made.folder.exists():
            before.rename(made.folder)  # a process died while it replaced the folder
        make_folder(made.folder)
        return made

    @classmethod
    def of(cls, workspaces: Path, owner: str) -> "Workspace":
        """Return the workspace of a thread, or of a run without one, whether it exists or not."""
        return cls(workspaces / (owner if _ID.fullmatch(owner) else sha256(owner.encode()).hexdigest()))

    async def remove(self) -> None:
        """Remove the folder and the leftovers of an interrupted replacement, if any."""
        async with self.lock:
            await run_in_thread(self._remove)

    def _remove(self) -> None:
        for suffix in ("", NEW, BEFORE):
            remove_tree(self.folder.with_name(self.folder.name + suffix))

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raise ToolError if there is none or it is too large."""
        with self._parent(path) as (folder, name):
            try:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            except OSError:
                raise ToolError("There is no such file.") from None
            with open(file, "rb") as opened:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise ToolError("That is not a file.")
                data = opened.read(FILE_BYTES + 1)
        if len(data) > FILE_BYTES:
            raise ToolError(f"The file is larger than {FILE_BYTES} bytes.")
        return data

    def write(self, path: str, data: bytes) -> None:
        """Write the whole file or nothing."""
        if len(data) > FILE_BYTES:
            raise ToolError(f"The content is larger than {FILE_BYTES} bytes; write less.")
        files, size = self._size()
        if files >= FOLDER_FILES or size + len(data) > FOLDER_BYTES:
            raise ToolError("The workspace is full; write to an existing file or write less.")
        with self._parent(path, make=True) as (folder, name):
            _refuse_other_case(folder, name)
            scratch = f".{secrets.token_hex(8)}.part"
            file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
            try:
                with open(file, "wb") as opened:
                    opened.write(data)
                os.replace(scratch, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                os.unlink(scratch, dir_fd=folder)
                raise ToolError("The file cannot be written there.") from None

    @contextmanager
    def _parent(self, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder that holds the path's last part; yield its descriptor and that part."""
        *folders, name = _parts(path)
        with ExitStack() as opened:
            here = os.open(self.folder, os.O_DIRECTORY | os.O_NOFOLLOW)
            opened.callback(os.close, here)
            for part in folders:
                try:
                    if make:
                        _refuse_other_case(here, part)
                        _make(part, here)
                    here = os.open(part, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
                except OSError:
                    raise ToolError("There is no such folder.") from None
                opened.callback(os.close, here)
            yield here, name

    def _size(self) -> tuple[int, int]:
        sizes = [
            os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(self.folder) for name in names
        ]
        return len(sizes), sum(sizes)


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or "\\" in path:
        raise ToolError("The path is not relative. Pass a path such as data/report.txt.")
    if any(part in ("", ".", "..") for part in parts) or len(parts) > _DEPTH:
        raise ToolError("A path stays inside the workspace: no empty parts, no . and no .., at most 16 parts.")
    try:
        long = any(len(part.encode()) > 200 for part in parts)
    except UnicodeEncodeError:
        raise ToolError("The path is not text. Pass a path such as data/report.txt.") from None
    if long:
        raise ToolError("A part of the path is longer than 200 bytes. Pass a shorter name.")
    return parts


def _make(part: str, folder: int) -> None:
    try:
        os.mkdir(part, 0o700, dir_fd=folder)
    except FileExistsError:
        return


def _refuse_other_case(folder: int, name: str) -> None:
    if any(other != name and other.casefold() == name.casefold() for other in os.listdir(folder)):
        raise ToolError("There is a file or folder whose name differs only by case; use that name.")
