"""The feed: numbers what happened in conversations, and lets people follow it.

Entries are written with their cause, by anybody; `Feed.run` gives them their numbers afterwards, one process at a time
(the store's lock decides which), and then wakes who follows, here and elsewhere. So a follower is a plain cursor over
numbers: none appears behind it, however late its transaction was committed. What a process did not live to number the
next look of any other does.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import structlog

from runyard.domain.feed import Entry
from runyard.engine.log.stream import AWAY_SECONDS, Pause, Silence
from runyard.errors import Gone, RunyardError, Unavailable
from runyard.store import Store

log = structlog.get_logger()

AT_ONCE = 1000
READ = 200
GONE = "The feed up to {} was dropped when it was old. Read the conversations, then follow from there."


class Feed:
    def __init__(self, store: Store, tell: Callable[[int], None], poll_seconds: float) -> None:
        """`tell` is called with how far the feed goes, when that is news."""
        self._store = store
        self._tell = tell
        self._poll = poll_seconds
        self._bell = asyncio.Event()
        self._followers: set[Follower] = set()
        self._last = 0
        self.is_cut = False

    def wake(self) -> None:
        """Something happened: it wants a number."""
        self._bell.set()

    def note(self, last: int) -> None:
        """Another process has numbered this far."""
        if last > self._last:
            self._last = last
            self._wake()

    async def run(self) -> None:
        """Number what is new, until cancelled."""
        while True:
            self._bell.clear()
            try:
                last = await self._store.number_feed(AT_ONCE)
            except RunyardError as error:
                log.warning("feed.update_failed", code=error.code)
            else:
                if last > self._last:
                    self._last = last
                    self._wake()
                    self._tell(last)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await self._bell.wait()

    async def start(self, asked: int | None) -> int:
        """Where somebody begins who has seen it as far as `asked`; who has seen nothing wants only what is new.
        Gone, if what follows was dropped since."""
        if asked is None:
            return await self._store.number_feed(AT_ONCE)
        first = await self._store.feed_start()
        if asked < first:
            raise Gone(GONE.format(first), snapshot={"last_event_id": str(first)})
        return asked

    def follow(self, caller: str, after: int) -> "Follower":
        follower = Follower(self, self._store, caller, after)
        self._followers.add(follower)
        return follower

    def leave(self, follower: "Follower") -> None:
        self._followers.discard(follower)

    def cut(self) -> None:
        """End every stream without a clean end, so that clients come back elsewhere."""
        self.is_cut = True
        self._wake()

    def _wake(self) -> None:
        for follower in self._followers:
            follower.wake()


class Follower:
    """One reader's cursor."""

    def __init__(self, feed: Feed, store: Store, caller: str, after: int) -> None:
        self._feed = feed
        self._store = store
        self._caller = caller
        self._cursor = after
        self._gone = False
        self._bell = asyncio.Event()
        self._silence = Silence(self._bell)

    async def next(self, patience: float) -> Sequence[Entry] | Pause:
        """The next entries that the reader may see, in order; or why there are none."""
        self._silence.begin(patience)
        while (pause := self._pause()) is None:
            self._bell.clear()
            entries, more = await self._more()
            if entries:
                return entries
            if not more and self._pause() is None:
                if self._silence.is_over:
                    return Pause.IDLE
                await self._bell.wait()
        return pause

    def _pause(self) -> Pause | None:
        if self._gone:
            return Pause.GONE
        return Pause.CUT if self._feed.is_cut else None

    async def _more(self) -> tuple[Sequence[Entry], bool]:
        """What follows the cursor, and whether the cursor moved."""
        try:
            window = await self._store.read_feed(self._caller, self._cursor, READ)
        except Unavailable:
            await asyncio.sleep(AWAY_SECONDS)
            self._bell.set()  # look again; meanwhile the reader gets its heartbeats
            return [], False
        moved = window.upto > self._cursor
        self._cursor = window.upto
        return window.entries, moved

    def wake(self) -> None:
        self._bell.set()

    def leave(self) -> None:
        """The reader is gone: stop waiting."""
        self._gone = True
        self._bell.set()

    def close(self) -> None:
        self._silence.end()
        self._feed.leave(self)
