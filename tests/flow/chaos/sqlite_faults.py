"""Faults of a chaos run on SQLite: a second process on the file, and a disk that is full."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.flow.chaos.faults import Inject, ProcessFaults, lasting
from tests.flow.chaos.pods import Place
from tests.flow.chaos.report import Report
from tests.flow.chaos.schedule import Fault
from tests.support.scenario.pods import PodDied

DISK_MB = 192
BALLAST = bytes(1 << 20)


class SqliteFaults(ProcessFaults):
    def __init__(self, places: Sequence[Place], report: Report, disk: Path) -> None:
        super().__init__(places, report)
        self._ballast = disk / "ballast"
        self._disk_busy = asyncio.Lock()

    def kinds(self) -> dict[str, Inject]:
        return super().kinds() | {"second-process": self._start_second, "full-disk": self._fill_disk}

    async def heal(self) -> None:
        self._ballast.unlink(missing_ok=True)

    async def _start_second(self, fault: Fault) -> bool:
        """A second process on the same file is refused at its start."""
        place = self.places[0]
        async with place.hit() as pod:
            if pod is None:
                return False
            try:
                second = await place.start_one(self.report.without)
            except PodDied:
                return True
            self.report.violations.append(f"{second.name} started on the database of {pod.name}")
            await second.kill()
            return True

    async def _fill_disk(self, fault: Fault) -> bool:
        """No byte is free for a while. Other faults may hit the process meanwhile."""
        if self._disk_busy.locked():
            return False
        async with self._disk_busy:
            await asyncio.to_thread(self._fill)
            await asyncio.sleep(lasting(fault, 0.5, 5))
            self._ballast.unlink()
        return True

    def _fill(self) -> None:
        with self._ballast.open("wb", buffering=0) as file:
            for size in (len(BALLAST), 4096):
                try:
                    while True:
                        file.write(BALLAST[:size])
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise


@contextmanager
def small_disk(folder: Path) -> Iterator[str]:
    """Mount a small disk at the folder; why not, if this machine or user cannot."""
    folder.mkdir()
    if os.geteuid() != 0:
        yield "only root can mount a small disk"
        return
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        yield "there is no program `mount`"
        return
    if mounted.returncode:
        yield f"mount failed: {mounted.stderr.strip()}"
        return
    try:
        yield ""
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
