"""Time as the core sees it: wall-clock milliseconds for records, a monotonic clock for waiting. Injected, never
imported."""

import time
from typing import Protocol

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
READING_MS = 100


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970, for timestamps."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back, for measuring."""


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()


class SteadyClock:
    """The time of a database: read now and then, and counted on by a clock that never jumps.

    The wall clock of this machine counts only until the first reading."""

    def __init__(self) -> None:
        self._ahead = SystemClock().now_ms() - _boot_ms()

    def now_ms(self) -> int:
        return _boot_ms() + self._ahead

    def monotonic(self) -> float:
        return time.monotonic()

    def set(self, now_ms: int) -> None:
        """Take over a reading, unless it differs by less than a reading may be late."""
        if abs(now_ms - self.now_ms()) > READING_MS:
            self._ahead = now_ms - _boot_ms()


def _boot_ms() -> int:
    return time.clock_gettime_ns(_BOOT) // 1_000_000


def since_boot() -> float:
    """Seconds on a clock that never goes back and also counts while the machine is suspended, where there is one."""
    return time.clock_gettime(_BOOT)
