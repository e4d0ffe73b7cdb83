"""Time as the core sees it: wall-clock milliseconds for records, a monotonic clock for waiting. Injected, never
imported."""

import time
from typing import Protocol


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


def since_boot() -> float:
    """Seconds on a clock that never goes back and also counts while the machine is suspended, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
