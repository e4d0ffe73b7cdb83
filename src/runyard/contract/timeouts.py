"""Timeouts of calls to a remote agent."""

from msgspec import Struct


class Timeouts(Struct, frozen=True):
    """How long a remote agent may take, in seconds.

    Args:
        request: For connecting, and for an answer that is not streamed.
        stream: For a whole stream.
        idle: For silence in a stream.

    Example:
        >>> slow = runyard.Timeouts(stream=900)
        >>> runyard.remote("archive", url="https://a.example.org", task_type="SEARCH", timeouts=slow)
        Agent('archive', kind='remote')
    """

    request: float = 30.0
    stream: float = 300.0
    idle: float = 60.0

    def within(self, seconds: float | None) -> "Timeouts":
        """Return the timeouts, each at most `seconds`."""
        if seconds is None:
            return self
        return Timeouts(*(min(seconds, limit) for limit in (self.request, self.stream, self.idle)))
