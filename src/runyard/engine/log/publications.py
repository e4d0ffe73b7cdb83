"""How far followed runs are published, as far as this process has heard, and the bells of those who wait for it.

News comes from this process's outbox, from the bus, and from `Streams.watch`, which looks by itself.
"""

from runyard.engine.log.wakeups import Wakeups


class Publications:
    def __init__(self) -> None:
        self.wakeups = Wakeups(self._forget)
        self._upto: dict[str, int] = {}

    def note(self, run_id: str, upto: int) -> None:
        """The run is published up to this seq."""
        if self.wakeups.has(run_id) and upto > self._upto.get(run_id, -1):
            self._upto[run_id] = upto
            self.wakeups.wake(run_id)

    def upto(self, run_id: str) -> int | None:
        """The last seq that is published; None if nothing has been heard."""
        return self._upto.get(run_id)

    def _forget(self, run_id: str) -> None:
        self._upto.pop(run_id, None)
