"""How often a tool may be called in one run: `"10/minute"`.

A sliding window, kept by the process that works on the run: a run that changes workers starts a new window. What was
refused does not count. Nothing is kept of runs that are quiet for longer than the window.
"""

import re
from collections import deque

from runyard.errors import Invalid

_WORDS = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)", re.ASCII)
_MS = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


class Rate:
    def __init__(self, words: str) -> None:
        found = _WORDS.fullmatch(words)
        if not found:
            raise Invalid('A rate limit looks like "10/minute"; second, hour and day will do as well.')
        self.words = words
        self._most, self._window_ms = int(found[1]), _MS[found[2]]
        self._calls: dict[str, deque[int]] = {}  # the run that called last stands last

    def take(self, run_id: str, now_ms: int) -> int:
        """Count a call of this run: 0, or the milliseconds until it may be made if there were too many."""
        self._forget(now_ms - self._window_ms)
        times = self._calls.pop(run_id, deque())
        while times and times[0] <= now_ms - self._window_ms:
            times.popleft()
        wait_ms = times[0] + self._window_ms - now_ms if len(times) >= self._most else 0
        if not wait_ms:
            times.append(now_ms)
        self._calls[run_id] = times
        return wait_ms

    def _forget(self, before_ms: int) -> None:
        while self._calls:
            run_id, times = next(iter(self._calls.items()))
            if times[-1] > before_ms:
                break
            del self._calls[run_id]
