"""The only follower of a log: a cursor that reads, hands over, and waits.

Listen first, then read `seq > cursor`: from the tail where it is contiguous, else from the store. So there is no seam
between old and new, no gap and no duplicate, whichever pod wrote the events. A stream is at its end only after the
terminal event (or at once, if the cursor is already there). Whoever is too slow holds one batch, never a backlog: the
log is its backlog.

`Streams.watch` is the safety net for logs that other pods write: it compares the followed runs with the store now and
then.
"""

import asyncio
from collections.abc import Sequence
from enum import Enum

import structlog

from runyard.domain.events import Event
from runyard.engine.tail import Chunk, Tail
from runyard.errors import RunyardError
from runyard.store import Store

log = structlog.get_logger()

READ_EVENTS = 1000  # events read from the store at once
BATCH_BYTES = 256 * 1024  # handed over at once, more or less


class Pause(Enum):
    """Why there is nothing to hand over."""

    IDLE = "idle"  # nothing happened for the given time
    END = "end"  # the terminal event was handed over
    CUT = "cut"  # this process is going away; the run is not at its end
    GONE = "gone"  # the reader left


class Follower:
    """One reader's cursor."""

    def __init__(self, streams: "Streams", run_id: str, after: int) -> None:
        self._streams = streams
        self._run_id = run_id
        self._cursor = after
        self._ended = False
        self._gone = False
        self._bell = streams.tail.listen(run_id)

    async def next(self, patience: float) -> list[Chunk] | Pause:
        """The next chunks, in order; or why there are none, after at most `patience` seconds of silence."""
        try:
            async with asyncio.timeout(patience):
                woken = False
                while True:
                    if self._gone:
                        return Pause.GONE
                    if self._streams.is_cut:
                        return Pause.CUT
                    if self._ended:
                        return Pause.END
                    self._bell.clear()
                    chunks = self._streams.tail.read(self._run_id, self._cursor)
                    if chunks is None or (woken and not chunks):
                        chunks = await self._read()  # woken for nothing in the tail: another pod has written
                    if chunks:
                        return self._hand_over(chunks)
                    if not self._ended:
                        woken = await self._bell.wait()
        except TimeoutError:
            return Pause.IDLE

    async def _read(self) -> list[Chunk]:
        events: Sequence[Event] = await self._streams.store.read(self._run_id, self._cursor, READ_EVENTS)
        if events:
            return [Chunk(events)]
        head = (await self._streams.store.heads([self._run_id])).get(self._run_id)
        self._ended = head is None or (head.finished and head.last_seq <= self._cursor)
        return []

    def _hand_over(self, chunks: list[Chunk]) -> list[Chunk]:
        size = 0
        for n, chunk in enumerate(chunks, 1):
            size += chunk.size
            if size >= BATCH_BYTES:
                chunks = chunks[:n]
                break
        self._cursor = chunks[-1].last
        self._ended = chunks[-1].is_last
        return chunks

    def leave(self) -> None:
        """The reader is gone: stop waiting."""
        self._gone = True
        self._bell.set()

    def close(self) -> None:
        self._streams.tail.hang_up(self._run_id, self._bell)


class Streams:
    def __init__(self, store: Store, tail: Tail) -> None:
        self.store = store
        self.tail = tail
        self.is_cut = False
        self.is_draining = False

    def follow(self, run_id: str, after: int) -> Follower:
        return Follower(self, run_id, after)

    def cut(self) -> None:
        """End every stream without a clean end, so that clients come back elsewhere."""
        self.is_cut = True
        self.tail.ring_all()

    async def watch(self, interval: float) -> None:
        """Wake followers of runs that were written to by others. Runs until cancelled."""
        seen: dict[str, int] = {}
        while True:
            await asyncio.sleep(interval)
            runs = self.tail.listened
            if not runs:
                continue
            try:
                heads = await self.store.heads(runs)
            except RunyardError:
                log.warning("streams.unavailable", runs=len(runs))
                continue
            for run_id, head in heads.items():
                if head.last_seq > max(self.tail.last_seq(run_id), seen.get(run_id, 0)):
                    self.tail.ring(run_id)
            seen = {run_id: head.last_seq for run_id, head in heads.items()}
