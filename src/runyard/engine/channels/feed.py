"""The feed: numbers the entries of conversations, and lets people follow them.

Any process writes entries, in the transaction of what they report. `Feed.run` numbers them afterwards, in one process
at a time (a lock in the store), and wakes the followers of all processes. So a follower is a cursor over numbers: no
entry appears behind it, however late its transaction was committed. If a process dies before it numbers its entries,
another one does so at its next poll.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from runyard.domain.conversations.feed import Entry
from runyard.engine.log.idle_timer import IdleTimer
from runyard.engine.log.stream import AWAY_SECONDS, Pause
from runyard.errors import Gone, RunyardError, Unavailable
from runyard.store import ChannelStore
from runyard.telemetry.logger import get_logger

log = get_logger()

AT_ONCE = 1000
READ = 200
GONE = "The retention policy deleted the feed up to {}. Read the conversations, then follow from there."


class Feed:
    def __init__(self, store: ChannelStore, announce: Callable[[int], None], poll_seconds: float) -> None:
        """`announce` is called with the feed's last number when it grows, to wake other processes."""
        self._store = store
        self._announce = announce
        self._poll = poll_seconds
        self._wakeup = asyncio.Event()
        self._followers: set[Follower] = set()
        self._last = 0
        self.is_cut = False

    def wake(self) -> None:
        """Number new entries now."""
        self._wakeup.set()

    def advance(self, last: int) -> None:
        """Record that another process has numbered entries up to `last`, and wake followers if that is new."""
        if last > self._last:
            self._last = last
            self._wake_followers()

    async def run(self) -> None:
        """Number new entries until cancelled."""
        while True:
            self._wakeup.clear()
            try:
                last = await self._store.number_feed(AT_ONCE)
            except RunyardError as error:
                log.warning("feed.update_failed", code=error.code)
            else:
                if last > self._last:
                    self._last = last
                    self._wake_followers()
                    self._announce(last)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await self._wakeup.wait()

    async def start(self, last_seen: int | None) -> int:
        """Return the cursor of a client that has seen the feed up to `last_seen`; without it, the feed's end. Raises
        Gone if the entries that follow were deleted."""
        if last_seen is None:
            return await self._store.number_feed(AT_ONCE)
        first = await self._store.feed_start()
        if last_seen < first:
            raise Gone(GONE.format(first), snapshot={"last_event_id": str(first)})
        return last_seen

    def follow(self, caller: str, after: int) -> "Follower":
        follower = Follower(self, self._store, caller, after)
        self._followers.add(follower)
        return follower

    def remove(self, follower: "Follower") -> None:
        self._followers.discard(follower)

    def cut(self) -> None:
        """Break every stream off without its end, so that clients reconnect to another process."""
        self.is_cut = True
        self._wake_followers()

    def _wake_followers(self) -> None:
        for follower in self._followers:
            follower.wake()


class Follower:
    """One client's cursor over the feed. `close` it when done."""

    def __init__(self, feed: Feed, store: ChannelStore, caller: str, after: int) -> None:
        self._feed = feed
        self._store = store
        self._caller = caller
        self._cursor = after
        self._gone = False
        self._wakeup = asyncio.Event()
        self._idle = IdleTimer(self._wakeup)

    async def next(self, patience: float) -> Sequence[Entry] | Pause:
        """Return the next entries that the client may see, in order, or why there are none. Wait for them at most
        `patience` seconds."""
        self._idle.start(patience)
        while (pause := self._pause()) is None:
            self._wakeup.clear()
            entries, moved = await self._read()
            if entries:
                return entries
            if not moved and self._pause() is None:
                if self._idle.has_expired:
                    return Pause.IDLE
                await self._wakeup.wait()
        return pause

    def _pause(self) -> Pause | None:
        if self._gone:
            return Pause.GONE
        return Pause.CUT if self._feed.is_cut else None

    async def _read(self) -> tuple[Sequence[Entry], bool]:
        """Return the entries after the cursor, and whether the cursor moved."""
        try:
            window = await self._store.read_feed(self._caller, self._cursor, READ)
        except Unavailable:
            await asyncio.sleep(AWAY_SECONDS)
            self._wakeup.set()  # read again; the idle timer still makes `next` return, so heartbeats continue
            return [], False
        moved = window.upto > self._cursor
        self._cursor = window.upto
        return window.entries, moved

    def wake(self) -> None:
        self._wakeup.set()

    def leave(self) -> None:
        """Stop waiting, because the client disconnected. The current `next` returns `Pause.GONE`."""
        self._gone = True
        self._wakeup.set()

    def close(self) -> None:
        self._idle.cancel()
        self._feed.remove(self)
