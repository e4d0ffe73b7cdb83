"""Rate limits of tools: `"10/minute"`.

A sliding window per owner, agent and tool, over all runs and processes. The store counts calls (`Store.take_call`) by
the database's clock and keeps the count over restarts. Refused calls do not count.
"""

import re

from runyard.errors import Invalid

_WORDS = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)", re.ASCII)
_MS = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


class Rate:
    """A limit of `most` calls in any `window_ms` milliseconds, parsed from its text."""

    def __init__(self, words: str) -> None:
        found = _WORDS.fullmatch(words)
        if not found:
            raise Invalid('Invalid rate limit; write "10/minute", or use second, hour or day.')
        self.words = words
        self.most, self.window_ms = int(found[1]), _MS[found[2]]
