"""A circuit breaker: stop calling a service that fails again and again, then try it carefully.

Closed until five calls in a row have failed. Then open for a minute, without any call. Then half open, until two calls
have succeeded (closed) or one has failed (open again). One breaker per service and process.
"""

import time
from collections.abc import Callable
from typing import Literal

FAILURES = 5
OPEN_SECONDS = 60.0
SUCCESSES = 2


class Breaker:
    """The circuit breaker of one service. The caller asks for `state` before a call and reports how it ended."""

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
