"""How often a tool may be called: `"10/minute"`.

A sliding window for each owner, agent and tool, over all runs and processes: the store counts (`Store.take_call`), by
the database's clock, and keeps the count over restarts. Refused calls do not count.
"""

import re

from runyard.errors import Invalid

_WORDS = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)", re.ASCII)
_MS = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


class Rate:
    """A limit, as it is written: at most `most` calls in any `window_ms` milliseconds."""

    def __init__(self, words: str) -> None:
        found = _WORDS.fullmatch(words)
        if not found:
            raise Invalid('A rate limit looks like "10/minute"; second, hour and day will do as well.')
        self.words = words
        self.most, self.window_ms = int(found[1]), _MS[found[2]]
