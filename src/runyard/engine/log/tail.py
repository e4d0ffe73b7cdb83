"""The recent end of logs, kept in memory so that followers of live runs never touch the store; and the bells that
wake them. Whatever becomes known here as committed is also told to the outbox.

Holds committed events only, as the chunks in which they were committed. Within one byte budget the least recently
used runs go first. It is a cache: other pods write into the same logs, so it answers only where it is contiguous from
the reader's cursor, and otherwise says that it does not know.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from runyard.domain.events import TERMINAL, Event
from runyard.engine.log.wakeups import Wakeups

BUDGET = 64 * 1024 * 1024
OVERHEAD = 400  # bytes of memory an event takes besides its data


class Chunk:
    """Events that follow one another. `frames` lets the followers of one face share what was encoded once."""

    __slots__ = ("events", "first", "frames", "last", "size")

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.first = events[0].seq
        self.last = events[-1].seq
        self.size = sum(len(event.data) for event in events) + OVERHEAD * len(events)
        self.frames: dict[str, bytes] = {}

    @property
    def is_last(self) -> bool:
        return self.events[-1].type == TERMINAL

    def after(self, seq: int) -> "Chunk":
        return self if seq < self.first else Chunk(self.events[seq - self.first + 1 :])

    def upto(self, seq: int) -> "Chunk":
        return self if seq >= self.last else Chunk(self.events[: seq - self.first + 1])


class Announcer(Protocol):
    """Who is told of commits: the outbox."""

    def committed(self, run_id: str, events: Sequence[Event]) -> None: ...

    def stirred(self) -> None: ...


class Tail:
    def __init__(self, outbox: Announcer, budget: int = BUDGET) -> None:
        self._outbox = outbox
        self._budget = budget
        self._size = 0
        self._runs: OrderedDict[str, list[Chunk]] = OrderedDict()
        self.wakeups = Wakeups(self._quiet)
        self._known: dict[str, int] = {}  # how far the store's log of a followed run goes, as last heard

    def add(self, run_id: str, events: Sequence[Event]) -> None:
        """Take events that were just committed, and wake who waits for them."""
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
        self._outbox.committed(run_id, events)

    def forget(self, run_id: str) -> None:
        self._size -= sum(chunk.size for chunk in self._runs.pop(run_id, ()))

    def read(self, run_id: str, after: int) -> list[Chunk] | None:
        """The chunks that follow `after` without a gap: none yet, or None if that cannot be told from here."""
        chunks = self._runs.get(run_id)
        if not chunks or after + 1 < chunks[0].first:
            return None
        if after >= chunks[-1].last:
            behind = self._known.get(run_id, 0) > chunks[-1].last
            return None if behind or chunks[-1].is_last else []
        at = bisect_right(chunks, after + 1, key=lambda chunk: chunk.first) - 1
        return [chunks[at].after(after), *chunks[at + 1 :]]

    def reaches(self, run_id: str) -> int:
        """How far the log goes, as far as that is known here."""
        chunks = self._runs.get(run_id)
        return max(self._known.get(run_id, 0), chunks[-1].last if chunks else 0)

    # --- news from elsewhere

    def note(self, run_id: str, last_seq: int) -> None:
        """The store's log goes this far: if that is news, somebody else wrote, and followers are to look there."""
        if self.wakeups.has(run_id) and last_seq > self.reaches(run_id):
            self._known[run_id] = last_seq
            self.wakeups.wake(run_id)

    def stale(self, run_id: str) -> None:
        """Something was written to the log without telling what: followers are to look in the store."""
        self.forget(run_id)
        self.wakeups.wake(run_id)
        self._outbox.stirred()

    def _quiet(self, run_id: str) -> None:
        self._known.pop(run_id, None)
