"""A machine clock that jumps, for a pod. `CLOCK_DAYS` says by how many days it is wrong from the start. On SIGUSR1 it
jumps by `CLOCK_JUMPS` days, and on the next one back. Ids and records follow it, as they follow a machine's clock."""

from __future__ import annotations

import os
import secrets
import signal
import time
from uuid import UUID

import runyard.base.ids
from runyard.base.clock import SystemClock

CLOCK_DAYS = "CLOCK_DAYS"
JUMPS = "CLOCK_JUMPS"  # by how many days, on SIGUSR1
DAY_MS = 24 * 3600 * 1000


def install() -> None:
    """Let this process have the clock that its environment describes."""
    ahead = int(os.environ.get(CLOCK_DAYS) or 0) * DAY_MS
    jump = int(os.environ.get(JUMPS) or 0) * DAY_MS
    if not ahead and not jump:
        return

    def now_ms(_: SystemClock | None = None) -> int:
        return time.time_ns() // 1_000_000 + ahead

    def uuid7() -> UUID:
        rest = secrets.randbits(80) & ~(0xF << 76) & ~(0x3 << 62)
        return UUID(int=(now_ms() << 80) | (7 << 76) | (2 << 62) | rest)

    def toggle(*_: object) -> None:
        nonlocal ahead
        ahead = 0 if ahead else jump

    SystemClock.now_ms = now_ms  # type: ignore[method-assign, assignment]
    runyard.base.ids.uuid7 = uuid7  # type: ignore[assignment, attr-defined]
    if jump:
        signal.signal(signal.SIGUSR1, toggle)
