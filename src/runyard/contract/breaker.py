"""A circuit breaker: a service that fails again and again is left alone for a while, and then tried with care.

Closed until five calls in a row have failed; then open for a minute, and nothing is called; then half open, until two
calls have succeeded (closed) or one has failed (open again). One per service and process; it remembers nothing else.
"""

import time
from collections.abc import Callable
from typing import Literal

FAILURES = 5
OPEN_SECONDS = 60.0
SUCCESSES = 2


class Breaker:
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = 0
        self._opened: float | None = None
        self._successes = 0

    @property
    def state(self) -> Literal["closed", "open", "half open"]:
        if self._opened is None:
            return "closed"
        return "open" if self._now() - self._opened < OPEN_SECONDS else "half open"

    def succeeded(self) -> None:
        self._failures = 0
        if self.state == "half open":
            self._successes += 1
            if self._successes >= SUCCESSES:
                self._opened = None

    def failed(self) -> None:
        self._failures += 1
        if self.state == "half open" or (self.state == "closed" and self._failures >= FAILURES):
            self._opened = self._now()
            self._successes = 0
