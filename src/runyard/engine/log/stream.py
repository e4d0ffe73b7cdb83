"""The only follower of a log: a cursor that reads, hands over, and waits.

Listen first, then read `seq > cursor`: from the tail where it is contiguous, else from the store. So there is no seam
between old and new, no gap and no duplicate, whichever pod wrote the events. A stream is at its end only after the
terminal event (or at once, if the cursor is already there). Whoever is too slow holds one batch, never a backlog: the
log is its backlog.

A follower may be content with committed events, or want those that are published (S4.18): then its bell rings, and
its view ends, where the publication does. `Streams.watch` is the safety net for logs that other pods write: it
compares the followed runs with the store now and then. It also notes that a run is followed here which another pod
believes to be left alone (`engine/control/disconnects.py`).
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum

import structlog

from runyard.engine.log.publications import Publications
from runyard.engine.log.tail import Chunk, Tail
from runyard.engine.log.wakeups import Wakeups
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


class Silence:
    """How long nothing has come; rings the bell when that is too long. One timer for many waits: it looks, when it goes
    off, how long the latest silence has lasted."""

    def __init__(self, bell: asyncio.Event) -> None:
        self._bell = bell
        self._loop = asyncio.get_running_loop()
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, patience: float) -> None:
        self._until = self._loop.time() + patience
        if self._timer is None or self._timer.when() > self._until:
            self.end()
            self._timer = self._loop.call_at(self._until, self._look)

    @property
    def is_over(self) -> bool:
        return self._loop.time() >= self._until

    def _look(self) -> None:
        self._timer = None
        if self.is_over:
            self._bell.set()
        else:
            self._timer = self._loop.call_at(self._until, self._look)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Follower:
    """One reader's cursor."""

    def __init__(self, streams: "Streams", run_id: str, after: int, wakeups: Wakeups) -> None:
        self._streams = streams
        self._run_id = run_id
        self._cursor = after
        self._ended = False
        self._deleted = False
        self._gone = False
        self._wakeups = wakeups
        self._bell = wakeups.hang(run_id)
        self._silence = Silence(self._bell)

    async def next(self, patience: float) -> list[Chunk] | Pause:
        """The next chunks, in order; or why there are none, after at most `patience` seconds of silence."""
        self._silence.begin(patience)
        while (pause := self._pause()) is None:
            if self._silence.is_over:
                return Pause.IDLE
            self._bell.clear()
            if chunks := await self._more():
                return self._hand_over(chunks)
            if self._pause() is None and not self._silence.is_over:
                await self._bell.wait()
        return pause

    def _pause(self) -> Pause | None:
        if self._gone:
            return Pause.GONE
        if self._streams.is_cut or self._deleted:
            return Pause.CUT
        return Pause.END if self._ended else None

    async def _more(self) -> list[Chunk]:
        """What follows the cursor, as far as it is to be seen."""
        chunks = self._streams.tail.read(self._run_id, self._cursor)
        return await self._stored() if chunks is None else chunks

    async def _stored(self) -> list[Chunk]:
        try:
            chunk = await self._streams.read(self._run_id, self._cursor)
            return [chunk] if chunk is not None else await self._look_at_end()
        except Unavailable:
            return await self._away()

    async def _look_at_end(self) -> list[Chunk]:
        """There is nothing to read: is that the end?"""
        head = (await self._streams.store.heads([self._run_id])).get(self._run_id)
        self._deleted = head is None
        if head is not None:
            self._ended = head.finished and head.last_seq <= self._cursor
            self._streams.publications.note(self._run_id, head.published)
        return []

    async def _away(self) -> list[Chunk]:
        await asyncio.sleep(AWAY_SECONDS)
        self._bell.set()  # look again; meanwhile the reader gets its heartbeats
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

    @property
    def behind(self) -> int:
        return max(0, self._streams.tail.reaches(self._run_id) - self._cursor)

    def close(self) -> None:
        self._silence.end()
        self._wakeups.take_down(self._run_id, self._bell)
        self._streams.closed(self)


class PublishedFollower(Follower):
    """One reader's cursor that stops where the publication does."""

    _is_new = True  # and may begin at the end of a log of which others have heard everything

    async def _more(self) -> list[Chunk]:
        upto = self._streams.publications.upto(self._run_id)
        if self._is_new or upto is None or upto < self._cursor:
            try:
                await self._look_at_end()
            except Unavailable:
                return await self._away()
            self._is_new = False
            upto = self._streams.publications.upto(self._run_id) or 0
        if upto <= self._cursor:
            return []
        # the log does go that far; a tail that ends at the cursor only has not heard of it
        chunks = self._streams.tail.read(self._run_id, self._cursor) or await self._stored()
        return [chunk.upto(upto) for chunk in chunks if chunk.first <= upto]


class Streams:
    def __init__(self, store: Store, tail: Tail, publications: Publications) -> None:
        self.store = store
        self.tail = tail
        self.publications = publications
        self.is_cut = False
        self.is_draining = False
        self._next_reads: dict[tuple[str, int], asyncio.Task[Chunk | None]] = {}
        self._open: set[Follower] = set()

    def follow(self, run_id: str, after: int, *, published: bool = False) -> Follower:
        made = (
            PublishedFollower(self, run_id, after, self.publications.wakeups)
            if published
            else Follower(self, run_id, after, self.tail.wakeups)
        )
        self._open.add(made)
        return made

    def closed(self, follower: Follower) -> None:
        self._open.discard(follower)

    @property
    def open(self) -> int:
        """How many followers there are."""
        return len(self._open)

    @property
    def lag(self) -> int:
        """How many events, of those that are known here, the slowest follower has not been handed yet."""
        return max((follower.behind for follower in self._open), default=0)

    async def read(self, run_id: str, after: int) -> Chunk | None:
        """What the store has after that seq. Followers that are woken together and stand at the same place share one
        read, and what is encoded from it; only one that has not begun, because they must see what they were woken for.
        """
        place = (run_id, after)
        if place not in self._next_reads:
            self._next_reads[place] = asyncio.create_task(self._read_next(place), name="read")
        return await asyncio.shield(self._next_reads[place])

    async def _read_next(self, place: tuple[str, int]) -> Chunk | None:
        await asyncio.sleep(0)
        del self._next_reads[place]
        events = await self.store.read(*place, READ_EVENTS)
        return Chunk(events) if events else None

    def cut(self) -> None:
        """End every stream without a clean end, so that clients come back elsewhere."""
        self.is_cut = True
        self.tail.wakeups.ring_all()
        self.publications.wakeups.ring_all()

    async def watch(self, interval: float) -> None:
        """Wake followers of runs that were written to by others. Runs until cancelled."""
        while True:
            await asyncio.sleep(interval)
            runs = self.tail.wakeups.runs | self.publications.wakeups.runs
            if not runs:
                continue
            try:
                heads = await self.store.heads(sorted(runs))
            except RunyardError:
                log.warning("streams.poll_failed", runs=len(runs))
                continue
            for run_id, head in heads.items():
                self.tail.note(run_id, head.last_seq)
                self.publications.note(run_id, head.published)
            await self._claim_followed([run_id for run_id, head in heads.items() if head.detached])

    async def _claim_followed(self, run_ids: Sequence[str]) -> None:
        """Somebody is here for these, whatever another pod thinks; who has left meanwhile does not count."""
        here = [run_id for run_id in run_ids if self.is_followed(run_id)]
        if here:
            with suppress(RunyardError):
                await self.store.attach(here)

    def is_followed(self, run_id: str) -> bool:
        return self.tail.wakeups.has(run_id) or self.publications.wakeups.has(run_id)
