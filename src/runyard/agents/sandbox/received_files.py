"""Read the files and heartbeats that the supervisor (`supervise.py`) sends out of a sandbox.

The program controls what is in its folder, so nothing is trusted: names are checked part by part; counts, sizes and
depth are limited; files are written into a new folder that no other process knows. A thread reads until the channel
closes, which happens when the sandbox ends.
"""

import os
import struct
import time
from pathlib import Path
from threading import Event
from typing import BinaryIO

from runyard.agents.sandbox.bubblewrap import Limits

_HEAD = struct.Struct(">cI")
_FRAME_BYTES = 128 * 1024
_PART_BYTES = 255
DEPTH = 65


class BadFrame(Exception):
    """The frame is not one that a supervisor sends."""


class ReceivedFiles:
    """Writes received files into `folder`. `is_complete`: all files arrived. `is_over`: a limit was exceeded."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.is_complete = False
        self.is_over = False
        self._folder = folder
        self._limits = limits
        self._files = self._bytes = 0
        self._heard = time.monotonic()
        self._ended = Event()
        self._ended.set()

    @property
    def silence(self) -> float:
        """Seconds since the supervisor's last frame; 0 when the channel is closed."""
        return 0.0 if self._ended.is_set() else time.monotonic() - self._heard

    def begin(self) -> None:
        """Start counting silence: a supervisor was started. The caller then calls `read` in a thread."""
        self._heard = time.monotonic()
        self._ended.clear()

    def read(self, fd: int) -> None:
        """Read the channel to its end and close it."""
        try:
            with open(fd, "rb") as channel:
                try:
                    self._take_all(channel)
                except (BadFrame, OSError):
                    self.is_over, self.is_complete = True, False
                    while channel.read(_FRAME_BYTES):
                        pass  # drain it, so that the supervisor does not block
        finally:
            self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Wait until the channel is closed. Return False on timeout."""
        return self._ended.wait(seconds)

    def _take_all(self, channel: BinaryIO) -> None:
        file: BinaryIO | None = None
        try:
            while head := channel.read(_HEAD.size):
                if len(head) < _HEAD.size:
                    raise BadFrame
                kind, size = _HEAD.unpack(head)
                if size > _FRAME_BYTES or len(data := channel.read(size)) < size:
                    raise BadFrame
                self._heard = time.monotonic()
                if kind == b"b":
                    self._count(0, len(data))
                    if file is None:
                        raise BadFrame
                    file.write(data)
                    continue
                if file is not None:
                    file.close()
                    file = None
                file = self._take(kind, data)
        finally:
            if file is not None:
                file.close()

    def _take(self, kind: bytes, data: bytes) -> BinaryIO | None:
        match kind:
            case b"U":
                return None
            case b"D":
                self.is_over = True
            case b"Z":
                self.is_complete = not self.is_over
            case b"d":
                self._count(1, 0)
                os.mkdir(self._path(data), 0o700)
            case b"f":
                self._count(1, 0)
                made = os.open(self._path(data), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
                return open(made, "wb")
            case _:
                raise BadFrame
        return None

    def _count(self, files: int, size: int) -> None:
        self._files += files
        self._bytes += size
        if self._files > self._limits.folder_files or self._bytes > self._limits.folder_bytes:
            raise BadFrame

    def _path(self, name: bytes) -> Path:
        parts = name.split(b"/")
        if len(parts) > DEPTH or any(part in (b"", b".", b"..") or b"\0" in part for part in parts):
            raise BadFrame
        if any(len(part) > _PART_BYTES for part in parts):
            raise BadFrame
        return self._folder.joinpath(*map(os.fsdecode, parts))
