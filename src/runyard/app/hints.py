"""Wakes workers and stops runs, in this process and in others.

A hint over the bus decides nothing: it makes another process read the store sooner than its next poll.
"""

from runyard.buses.bus import Bus, Hint
from runyard.engine.control.announcer import Announcer
from runyard.engine.running.worker import Worker


class Hints:
    """`worker` is the worker of this process, once it is built; `announcer` rings the engine that the settings name."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.worker: Worker | None = None
        self.announcer: Announcer | None = None

    def wake_workers(self) -> None:
        """Make all workers claim now, because a run may be ready."""
        if self.worker is not None:
            self.worker.wake()
        self.wake_other_processes()

    def wake_other_processes(self) -> None:
        """Make the workers of other processes, and the engine that the settings name, claim now."""
        if self.announcer is not None:
            self.announcer.wake()
        self._bus.send([Hint("work")])

    def stop_run(self, run_id: str) -> None:
        """Stop a run for which a cancel request was recorded, or tell other processes if it is not executed here."""
        if self.worker is None or not self.worker.stop(run_id, "cancel"):
            self._bus.send([Hint("cancel", run_id)])

    def announce_feed(self, last: int) -> None:
        """Tell other processes that the feed is numbered up to `last`."""
        self._bus.send([Hint("feed", seq=last)])
