"""The seq up to which each followed run is published, and the wake-ups of its followers.

The outbox of this process, hints from the bus and the polls of `Streams.watch` report progress here.
"""

from runyard.engine.log.wakeups import Wakeups


class Publications:
    def __init__(self) -> None:
        self.wakeups = Wakeups(self._forget)
        self._upto: dict[str, int] = {}

    def advance(self, run_id: str, upto: int) -> None:
        """Record that the run is published up to this seq, and wake its followers if that is new."""
        if self.wakeups.has(run_id) and upto > self._upto.get(run_id, -1):
            self._upto[run_id] = upto
            self.wakeups.wake(run_id)

    def upto(self, run_id: str) -> int | None:
        """Return the last published seq, or None if this process does not know it."""
        return self._upto.get(run_id)

    def _forget(self, run_id: str) -> None:
        self._upto.pop(run_id, None)
