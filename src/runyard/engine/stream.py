"""The only follower of a log: a cursor that reads, hands over, and waits.

Listen first, then read `seq > cursor`: from the tail where it is contiguous, else from the store. So there is no seam
between old and new, no gap and no duplicate, whichever pod wrote the events. A stream is at its end only after the
terminal event (or at once, if the cursor is already there). Whoever is too slow holds one batch, never a backlog: the
log is its backlog.

`Streams.watch` is the safety net for logs that other pods write: it compares the followed runs with the store now and
then.
"""

import asyncio
from enum import Enum

import structlog

from runyard.engine.tail import Chunk, Tail
from runyard.errors import RunyardError, Unavailable
from runyard.store import Store

log = structlog.get_logger()

READ_EVENTS = 1000  # events read from the store at once
AWAY_SECONDS = 0.2  # between looks while the database is away
BATCH_BYTES = 256 * 1024  # handed over at once, more or less


class Pause(Enum):
    """Why there is nothing to hand over."""

    IDLE = "idle"  # nothing happened for the given time
    END = "end"  # the terminal event was handed over
    CUT = "cut"  # this process, or the run's log, is going away; this is not its end
    GONE = "gone"  # the reader left


class Follower:
    """One reader's cursor."""

    def __init__(self, streams: "Streams", run_id: str, after: int) -> None:
        self._streams = streams
        self._run_id = run_id
        self._cursor = after
        self._ended = False
        self._deleted = False
        self._gone = False
        self._bell = streams.tail.listen(run_id)

    async def next(self, patience: float) -> list[Chunk] | Pause:
        """The next chunks, in order; or why there are none, after at most `patience` seconds of silence."""
        try:
            async with asyncio.timeout(patience):
                while (pause := self._pause()) is None:
                    self._bell.clear()
                    chunks = self._streams.tail.read(self._run_id, self._cursor)
                    if chunks is None:
                        chunks = await self._read()
                    if chunks:
                        return self._hand_over(chunks)
                    if self._pause() is None:
                        await self._bell.wait()
                return pause
        except TimeoutError:
            return Pause.IDLE

    def _pause(self) -> Pause | None:
        if self._gone:
            return Pause.GONE
        if self._streams.is_cut or self._deleted:
            return Pause.CUT
        return Pause.END if self._ended else None

    async def _read(self) -> list[Chunk]:
        try:
            events = await self._streams.store.read(self._run_id, self._cursor, READ_EVENTS)
            heads = {} if events else await self._streams.store.heads([self._run_id])
        except Unavailable:
            await asyncio.sleep(AWAY_SECONDS)
            self._bell.set()  # look again; meanwhile the reader gets its heartbeats
            return []
        if events:
            return [Chunk(events)]
        head = heads.get(self._run_id)
        self._deleted = head is None
        self._ended = head is not None and head.finished and head.last_seq <= self._cursor
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
                self.tail.note(run_id, head.last_seq)
