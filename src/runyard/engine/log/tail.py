"""The recent end of logs in memory, so that followers of live runs need not read the store, and their wake-ups.

Holds committed events only, in the chunks in which they were committed, and reports each commit to the outbox. All
runs share one byte budget; the least recently written run is dropped first. The tail is a cache: other processes
write to the same logs, so it answers only if it has every event after the reader's cursor, and returns None otherwise.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from operator import attrgetter
from typing import Protocol

from runyard.domain.events import TERMINAL, Event
from runyard.engine.log.wait_changes import WaitChanges
from runyard.engine.log.wakeups import Wakeups

BUDGET = 64 * 1024 * 1024
OVERHEAD = 400  # bytes of memory that an event takes in addition to its data

_data = attrgetter("data")
_first = attrgetter("first")
_size = attrgetter("size")


class Chunk:
    """Consecutive events. `frames` holds their encoding by face, so that followers of one face share it."""

    __slots__ = ("events", "first", "frames", "last", "size")

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.first = events[0].seq
        self.last = events[-1].seq
        self.size = sum(map(len, map(_data, events))) + OVERHEAD * len(events)
        self.frames: dict[str, bytes] = {}

    @property
    def is_last(self) -> bool:
        return self.events[-1].type == TERMINAL

    def after(self, seq: int) -> "Chunk":
        return self if seq < self.first else Chunk(self.events[seq - self.first + 1 :])

    def upto(self, seq: int) -> "Chunk":
        return self if seq >= self.last else Chunk(self.events[: seq - self.first + 1])


def size_of(chunks: Sequence[Chunk]) -> int:
    """Return the bytes of memory that chunks take."""
    return sum(map(_size, chunks))


class CommitListener(Protocol):
    """The receiver of commits that the tail reports: the outbox."""

    def add_committed(self, run_id: str, events: Sequence[Event]) -> None: ...

    def poll_soon(self) -> None: ...


class Tail:
    """The cache of recent events. Also wakes followers when their run gets new events."""

    def __init__(self, outbox: CommitListener, budget: int = BUDGET) -> None:
        self._outbox = outbox
        self._budget = budget
        self._size = 0
        self._runs: OrderedDict[str, list[Chunk]] = OrderedDict()
        self.wakeups = Wakeups(self._forget_end)
        self.threads = Wakeups(lambda _: None)  # of followers of threads, by thread: it has a new run
        self.wait_changes = WaitChanges()
        self._known: dict[str, int] = {}  # last seq in the store of followed runs, as last reported

    def add(self, run_id: str, events: Sequence[Event]) -> None:
        """Add events that were just committed, and wake the followers of the run."""
        chunk = Chunk(events)
        chunks = self._runs.get(run_id)
        if chunks is None or chunks[-1].last + 1 != chunk.first:
            self.forget(run_id)
            chunks = self._runs[run_id] = []
        chunks.append(chunk)
        self._runs.move_to_end(run_id)
        self._size += chunk.size
        while self._size > self._budget and len(self._runs) > 1:
            self.forget(next(iter(self._runs)))
        while self._size > self._budget and len(chunks) > 1:
            self._size -= chunks.pop(0).size
        self.wakeups.wake(run_id)
        self.wait_changes.take(events)
        self._outbox.add_committed(run_id, events)

    def forget(self, run_id: str) -> None:
        """Drop the events of a run from memory."""
        self._size -= size_of(self._runs.pop(run_id, ()))

    def read(self, run_id: str, after: int) -> list[Chunk] | None:
        """Return the chunks that follow `after` without a gap, [] if there are none yet, or None if the reader has to
        ask the store."""
        chunks = self._runs.get(run_id)
        if not chunks or after + 1 < chunks[0].first:
            return None
        newest = chunks[-1]
        if newest.first == after + 1:  # the reader has all other chunks, as most readers of a live run have
            return [newest]
        if after >= newest.last:
            behind = self._known.get(run_id, 0) > newest.last
            return None if behind or newest.is_last else []
        at = bisect_right(chunks, after + 1, key=_first) - 1
        return [chunks[at].after(after), *chunks[at + 1 :]]

    def last_seq(self, run_id: str) -> int:
        """Return the last seq of the log that this process knows of."""
        chunks = self._runs.get(run_id)
        return max(self._known.get(run_id, 0), chunks[-1].last if chunks else 0)

    # --- commits of other processes

    def set_stored_end(self, run_id: str, last_seq: int) -> None:
        """Record the log's last seq in the store. If it is new, another process wrote: followers read the store."""
        if self.wakeups.has(run_id) and last_seq > self.last_seq(run_id):
            self._known[run_id] = last_seq
            self.wakeups.wake(run_id)

    def mark_stale(self, run_id: str) -> None:
        """Make followers read the store, because the log has events that are not in the tail."""
        self.forget(run_id)
        self.wakeups.wake(run_id)
        self.wait_changes.wake()
        self._outbox.poll_soon()

    def _forget_end(self, run_id: str) -> None:
        self._known.pop(run_id, None)
