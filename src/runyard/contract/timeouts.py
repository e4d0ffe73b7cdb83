"""Timeouts of calls to a remote agent."""

from msgspec import Struct


class Timeouts(Struct, frozen=True):
    """Timeouts in seconds: for a sync answer and for connecting, for a whole stream, and for silence in a stream."""

    request: float = 30.0
    stream: float = 300.0
    idle: float = 60.0

    def within(self, seconds: float | None) -> "Timeouts":
        """Return the timeouts, each at most `seconds`."""
        if seconds is None:
            return self
        return Timeouts(*(min(seconds, limit) for limit in (self.request, self.stream, self.idle)))
