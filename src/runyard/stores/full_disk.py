"""Remembers that the disk of the database was full, so that readiness can say so.

A write that fails says it to its caller alone. A write that succeeds proves little: it may have needed no new page. So
a process counts as unable to write until a minute has passed without such a failure.
"""

from runyard.clock import Clock
from runyard.errors import DiskFull

REMEMBERED_SECONDS = 60.0


class FullDisk:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: float | None = None

    def note(self, error: BaseException) -> None:
        """Remember the failure of a write, if the disk was full."""
        if isinstance(error, DiskFull):
            self._seen = self._clock.monotonic()

    def check(self) -> None:
        """Raise DiskFull if a write failed for that reason within the last minute."""
        if self._seen is not None and self._clock.monotonic() - self._seen < REMEMBERED_SECONDS:
            raise DiskFull
