"""How long an agent of others may take."""

from msgspec import Struct


class Timeouts(Struct, frozen=True):
    """Seconds: for a sync answer and for connecting, for a whole stream, and for silence in a stream."""

    request: float = 30.0
    stream: float = 300.0
    idle: float = 60.0

    def within(self, seconds: float | None) -> "Timeouts":
        """No longer than this in all."""
        if seconds is None:
            return self
        return Timeouts(*(min(seconds, limit) for limit in (self.request, self.stream, self.idle)))
