"""The only reader of logs for clients: a cursor that reads, returns chunks, and waits.

A follower subscribes first, then reads `seq > cursor`: from the tail if it has all events after the cursor, else from
the store. A slow client holds one batch; the log itself is its backlog. A follower reads committed events, or, as a
`PublishedFollower`, only those that the outbox has published.

Authority: the log in the store; the tail is a cache.
Races: other processes append to the same log, and their hints may be lost. `Streams.watch` therefore compares the
followed runs with the store at every poll. It also clears the disconnect deadline of runs that have a follower in this
process (`engine/control/disconnects.py`).
Guarantees: no gap and no duplicate, whichever process wrote the events. A stream ends cleanly only after the terminal
event, or at once if the cursor is already there.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum

from runyard.engine.log.idle_timer import IdleTimer
from runyard.engine.log.publications import Publications
from runyard.engine.log.tail import Chunk, Tail, size_of
from runyard.engine.log.wakeups import Wakeups
from runyard.errors import RunyardError, Unavailable
from runyard.store import Store
from runyard.telemetry.logger import get_logger

log = get_logger()

READ_EVENTS = 1000  # events read from the store at once
AWAY_SECONDS = 0.2  # between reads while the database is unavailable
BATCH_BYTES = 256 * 1024  # approximate size of what `Follower.next` returns at once


class Pause(Enum):
    """Why `Follower.next` returns no chunks."""

    IDLE = "idle"  # no event came in the given time
    END = "end"  # the terminal event was returned before
    CUT = "cut"  # the process is stopping, or the log was deleted; the run has not ended
    GONE = "gone"  # the client disconnected


Push = Callable[[list[Chunk]], bool | None]


class Follower:
    """One client's cursor over a run's log. `close` it when done."""

    def __init__(self, streams: "Streams", run_id: str, after: int, wakeups: Wakeups) -> None:
        self._streams = streams
        self._run_id = run_id
        self._cursor = after
        self._ended = False
        self._deleted = False
        self._gone = False
        self._wakeups = wakeups
        self._wakeup = asyncio.Event()
        wakeups.subscribe(run_id, self._new_events)
        self._idle = IdleTimer(self._wakeup)
        self._patience = 0.0
        self._is_waiting = False
        self._is_interrupted = False
        self._push: Push | None = None
        self._push_error: Exception | None = None

    def push_to(self, push: Push) -> None:
        """Pass events that come while `next` waits to `push`, at once and without a switch of tasks.

        `push` returns whether the client got bytes, or None if it took nothing: then `next` returns the events. The
        last events of a log always come from `next`. If `push` raises, `next` raises the error: a commit calls `push`,
        and a stream that fails must not fail the commit."""
        self._push = push

    async def next(self, patience: float) -> list[Chunk] | Pause:
        """Return the next chunks in order, or why there are none. Wait for them at most `patience` seconds."""
        self._patience = patience
        self._idle.start(patience)
        while (pause := self._pause()) is None:
            if self._idle.has_expired:
                return Pause.IDLE
            self._wakeup.clear()
            if chunks := await self._read():
                return self._advance(chunks)
            if self._pause() is None and not self._idle.has_expired:
                self._is_waiting = True
                try:
                    await self._wakeup.wait()
                finally:
                    self._is_waiting = False
                if self._push_error is not None:
                    raise self._push_error
                if self._is_interrupted:
                    self._is_interrupted = False
                    return []
        return pause

    def _new_events(self) -> bool:
        """Push the events after the cursor if `next` waits for them; otherwise make `next` look.

        Return whether the last events of the log are left: `next` gets them when all followers have the others."""
        chunks = self._pushable() if self._is_waiting else []
        is_end_left = bool(chunks) and chunks[-1].is_last
        if not self._push_all(chunks[:-1] if is_end_left else chunks):
            self._wakeup.set()
            return False
        return is_end_left

    def _pushable(self) -> list[Chunk]:
        """Return the chunks after the cursor if they may be pushed now."""
        if self._push is None or self._wakeup.is_set() or self._pause() is not None:
            return []
        chunks = self._streams.tail.read(self._run_id, self._cursor)
        return chunks if chunks and size_of(chunks) < BATCH_BYTES else []

    def _push_all(self, chunks: list[Chunk]) -> bool:
        """Push chunks and move the cursor behind them. Return whether there were any, and the client took them."""
        if not chunks or self._push is None:
            return False
        try:
            got_bytes = self._push(chunks)
        except Exception as error:
            self._push_error = error
            return False
        if got_bytes is None:
            return False
        self._cursor = chunks[-1].last
        if got_bytes:
            self._idle.start(self._patience)
        return True

    def _pause(self) -> Pause | None:
        if self._gone:
            return Pause.GONE
        if self._streams.is_cut or self._deleted:
            return Pause.CUT
        return Pause.END if self._ended else None

    async def _read(self) -> list[Chunk]:
        """Return the chunks after the cursor that this follower may see."""
        chunks = self._streams.tail.read(self._run_id, self._cursor)
        return await self._read_store() if chunks is None else chunks

    async def _read_store(self) -> list[Chunk]:
        try:
            chunk = await self._streams.read(self._run_id, self._cursor)
            return [chunk] if chunk is not None else await self._check_end()
        except Unavailable:
            return await self._wait_for_store()

    async def _check_end(self) -> list[Chunk]:
        """Find out whether the log has ended or was deleted. Returns no chunks."""
        head = (await self._streams.store.heads([self._run_id])).get(self._run_id)
        self._deleted = head is None
        if head is not None:
            self._ended = head.finished and head.last_seq <= self._cursor
            self._streams.publications.advance(self._run_id, head.published)
        return []

    async def _wait_for_store(self) -> list[Chunk]:
        await asyncio.sleep(AWAY_SECONDS)
        self._wakeup.set()  # read again; the idle timer still makes `next` return, so heartbeats continue
        return []

    def _advance(self, chunks: list[Chunk]) -> list[Chunk]:
        """Move the cursor behind the chunks that fit into one batch, and return these."""
        size = 0
        for n, chunk in enumerate(chunks, 1):
            size += chunk.size
            if size >= BATCH_BYTES:
                chunks = chunks[:n]
                break
        self._cursor = chunks[-1].last
        self._ended = chunks[-1].is_last
        return chunks

    @property
    def has_ended(self) -> bool:
        """Whether `next` has returned the terminal event."""
        return self._ended

    def interrupt(self) -> None:
        """Make the current `next` return no chunks."""
        self._is_interrupted = True
        self._wakeup.set()

    def leave(self) -> None:
        """Stop waiting, because the client disconnected. The current `next` returns `Pause.GONE`."""
        self._gone = True
        self._wakeup.set()

    @property
    def behind(self) -> int:
        """How many known events the client has not been given yet."""
        return max(0, self._streams.tail.last_seq(self._run_id) - self._cursor)

    def close(self) -> None:
        self._push = None
        self._idle.cancel()
        self._wakeups.unsubscribe(self._run_id, self._new_events)
        self._streams.remove(self)


class PublishedFollower(Follower):
    """A cursor that stops at the last published event."""

    _is_new = True  # it may begin at the end of a log, so it has to check for that once

    def push_to(self, push: Push) -> None:
        """Ignored: `next` returns all events, because it has to know how far they are published."""

    async def _read(self) -> list[Chunk]:
        upto = self._streams.publications.upto(self._run_id)
        if self._is_new or upto is None or upto < self._cursor:
            try:
                await self._check_end()
            except Unavailable:
                return await self._wait_for_store()
            self._is_new = False
            upto = self._streams.publications.upto(self._run_id) or 0
        if upto <= self._cursor:
            return []
        # published events exist in the store; a tail that ends at the cursor does not know them yet
        chunks = self._streams.tail.read(self._run_id, self._cursor) or await self._read_store()
        return [chunk.upto(upto) for chunk in chunks if chunk.first <= upto]


class Streams:
    """The open followers of this process."""

    def __init__(self, store: Store, tail: Tail, publications: Publications) -> None:
        self.store = store
        self.tail = tail
        self.publications = publications
        self.is_cut = False
        self.is_draining = False
        self._next_reads: dict[tuple[str, int], asyncio.Task[Chunk | None]] = {}
        self._open: set[Follower] = set()

    def follow(self, run_id: str, after: int, *, published: bool = False) -> Follower:
        """Open a follower of the events after this seq; with `published`, of the published ones only."""
        follower = (
            PublishedFollower(self, run_id, after, self.publications.wakeups)
            if published
            else Follower(self, run_id, after, self.tail.wakeups)
        )
        self._open.add(follower)
        return follower

    async def wait_for_end(self, run_id: str, after: int, patience: float) -> None:
        """Return when the run has ended, or after `patience` seconds. `after` is a seq of its log."""
        follower = self.follow(run_id, after)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    while not isinstance(await follower.next(patience), Pause):
                        pass
        finally:
            follower.close()

    def remove(self, follower: Follower) -> None:
        self._open.discard(follower)

    @property
    def open(self) -> int:
        """The number of open followers."""
        return len(self._open)

    @property
    def lag(self) -> int:
        """How many known events the slowest follower has not been given yet."""
        return max((follower.behind for follower in self._open), default=0)

    async def read(self, run_id: str, after: int) -> Chunk | None:
        """Read the events after a seq from the store. Followers that are woken together at the same cursor share one
        read and its encoding. They share only a read that has not begun, so that it includes the events that woke them.
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
        """Break every stream off without its end, so that clients reconnect to another process."""
        self.is_cut = True
        self.tail.wakeups.wake_all()
        self.tail.threads.wake_all()
        self.publications.wakeups.wake_all()

    async def watch(self, interval: float) -> None:
        """Poll the store for events that other processes wrote to followed runs, until cancelled."""
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
                self.tail.set_stored_end(run_id, head.last_seq)
                self.publications.advance(run_id, head.published)
            await self._clear_disconnects([run_id for run_id, head in heads.items() if head.detached])

    async def _clear_disconnects(self, run_ids: Sequence[str]) -> None:
        """Clear the disconnect deadline of the runs that still have a follower in this process."""
        here = [run_id for run_id in run_ids if self.is_followed(run_id)]
        if here:
            with suppress(RunyardError):
                await self.store.attach(here)

    def is_followed(self, run_id: str) -> bool:
        return self.tail.wakeups.has(run_id) or self.publications.wakeups.has(run_id)
