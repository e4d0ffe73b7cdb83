"""Remember that the database's disk was full, for the readiness check.

A failed write reports it to its caller only. A successful write proves little: it may have needed no new page. So a
process is not ready until a minute has passed without such a failure.
"""

from runyard.base.clock import Clock
from runyard.errors import DiskFull

REMEMBERED_SECONDS = 60.0


class FullDisk:
    """The last time when a write found the disk full."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: float | None = None

    def record(self, error: BaseException) -> None:
        """Record the failure of a write, if the disk was full."""
        if isinstance(error, DiskFull):
            self._seen = self._clock.monotonic()

    def check(self) -> None:
        """Raise DiskFull if a write failed for that reason within the last minute."""
        if self._seen is not None and self._clock.monotonic() - self._seen < REMEMBERED_SECONDS:
            raise DiskFull
