"""How often an API key may ask, and how many streams may be open: of one key, and at this process.

Counted in this process alone, without asking anybody: a request costs one look into a dictionary. With several pods a
key has so much at each of them. Where no key is needed there is nobody to count, and only the streams of the whole
process are limited.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from runyard.errors import TooManyRequests, TooManyStreams

BURST_SECONDS = 2.0
MOST_KEYS = 10_000
STREAM_SECONDS = 5.0  # after which another attempt to open one makes sense


class Rates:
    """Up to `per_second` requests of a key, and after a silence twice as many at once.

    For each key one number is kept: when, at that pace, all that was asked so far would be done."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._pace = 1 / per_second
        self._burst = max(BURST_SECONDS, self._pace)
        self._clock = clock
        self._done_at: dict[str, float] = {}

    def take(self, key: str) -> None:
        now = self._clock()
        done_at = max(self._done_at.get(key, 0.0), now) + self._pace
        if done_at - now > self._burst:
            raise TooManyRequests(retry_after=done_at - now - self._burst)
        if key not in self._done_at and len(self._done_at) >= MOST_KEYS:
            del self._done_at[next(iter(self._done_at))]
        self._done_at[key] = done_at


class StreamRoom:
    """Places for streams; a place is held from the request to the end of its answer."""

    def __init__(self, here: int, per_key: int) -> None:
        self._here = here
        self._per_key = per_key
        self._open = 0
        self._of_key: Counter[str] = Counter()

    @contextmanager
    def taken(self, key: str | None) -> Iterator[None]:
        if self._open >= self._here:
            raise TooManyStreams("Too many streams are open at this process; try another.", retry_after=STREAM_SECONDS)
        if key is not None and self._of_key[key] >= self._per_key:
            raise TooManyStreams(
                f"This API key has {self._per_key} streams open; close one first.", retry_after=STREAM_SECONDS
            )
        self._open += 1
        if key is not None:
            self._of_key[key] += 1
        try:
            yield
        finally:
            self._open -= 1
            if key is not None:
                self._of_key[key] -= 1
                if not self._of_key[key]:
                    del self._of_key[key]
