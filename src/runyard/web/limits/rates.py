"""Limits on requests per second, by API key or address.

Counted in this process, with one dictionary lookup per request. With several processes, a key has this rate at each of
them. Of the requests without a key, only those that read the database are limited, by the address of the client.
"""

from collections.abc import Callable
from time import monotonic

from runyard.errors import TooManyRequests

BURST_SECONDS = 2.0
MOST_KEYS = 10_000


class Rates:
    """Up to `per_second` requests of a key, and after a pause a burst of up to `BURST_SECONDS` of them.

    Keeps one number per key: the time at which all its requests so far are done, at this rate."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._pace = 1 / per_second
        self._burst = max(BURST_SECONDS, self._pace)
        self._clock = clock
        self._done_at: dict[str, float] = {}

    def take(self, key: str) -> None:
        """Count a request. Raise TooManyRequests if the key is over its rate."""
        now = self._clock()
        owed = max(self._done_at.get(key, 0.0) - now, 0.0) + self._pace  # exactly one pace for a key that has paused
        if owed > self._burst:
            raise TooManyRequests(retry_after=owed - self._burst)
        if key not in self._done_at and len(self._done_at) >= MOST_KEYS:
            del self._done_at[next(iter(self._done_at))]
        self._done_at[key] = now + owed
