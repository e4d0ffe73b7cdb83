"""The common part of every bus: send hints in windows, reconnect, and know whether other processes are there.

A connection is used until any operation on it fails, then closed and replaced, with a growing pause between attempts.
Hints that cannot be sent are dropped, so memory is bounded while the broker is unavailable. Every process announces
itself when it connects and every `PRESENCE_SECONDS`. A process that hears no other one sends no hints (ADR 57).
"""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar, NoReturn, Protocol

from runyard.base.ids import new_id
from runyard.buses.bus import Hint, Kind, OnHints, announcement, decode, encode
from runyard.telemetry.logger import get_logger

log = get_logger()

WINDOW_SECONDS = 0.012
OPEN_SECONDS = 2.0
PATIENCE_SECONDS = 5.0  # time-out for a peer that does not answer
FAREWELL_SECONDS = 1.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # between attempts to connect
STEADY_SECONDS = 5.0  # a connection that lasted this long resets the pause
MAX_PENDING = 10_000  # hints in one window: more than a process has runs
PRESENCE_SECONDS = 2.0  # between two announcements of a process
MISSED = 3  # announcements that a process misses before it counts as gone

OnMessage = Callable[[str], None]


class Connection(Protocol):
    """One connection to the broker. Any error means that the connection is lost."""

    async def open(self, on_message: OnMessage) -> None:
        """Connect and subscribe, then return. Every message, including our own, goes to `on_message`."""

    async def publish(self, messages: Sequence[str]) -> None:
        """Send all messages."""

    async def watch(self) -> NoReturn:
        """Wait until the connection is lost or the peer does not answer; then raise."""

    async def close(self) -> None:
        """Close the connection, in any state."""


async def until_lost(lost: asyncio.Event, ask: Callable[[], Awaitable[object]], patience: float) -> NoReturn:
    """Ping the peer every `patience` seconds. Raise if it does not answer in that time, or when `lost` is set."""
    while True:
        try:
            async with asyncio.timeout(patience):
                await lost.wait()
            raise ConnectionError
        except TimeoutError:
            async with asyncio.timeout(patience):
                await ask()


class ReconnectingBus(ABC):
    """A bus that reconnects. A subclass makes connections to its broker."""

    name: ClassVar[str]

    def __init__(self, patience: float = PATIENCE_SECONDS, presence: float = PRESENCE_SECONDS) -> None:
        """`patience`: time-out for a peer that does not answer. `presence`: seconds between two announcements."""
        self._patience = patience
        self._presence = presence
        self._others_until = 0.0  # on the monotonic clock; later than now: there may be other processes
        self._sender = new_id()
        self._on_hints: OnHints = lambda hints: None
        self._pending: dict[tuple[Kind, str], int] = {}
        self._is_pending = asyncio.Event()
        self._speaking = asyncio.Lock()
        self._connected = asyncio.Event()
        self._closing = asyncio.Event()
        self._held_seconds = 0.0
        self._keeper: asyncio.Task[None] | None = None

    @abstractmethod
    def new_connection(self) -> Connection:
        """Return a new connection, not yet open."""

    @property
    def is_connected(self) -> bool:
        return self._connected.is_set()

    @property
    def has_others(self) -> bool:
        return not self.is_connected or monotonic() < self._others_until

    async def open(self, on_hints: OnHints) -> None:
        self._on_hints = on_hints
        self._keeper = asyncio.create_task(self._keep(), name="bus")
        with suppress(TimeoutError):
            async with asyncio.timeout(OPEN_SECONDS):
                await self._connected.wait()

    def send(self, hints: Sequence[Hint]) -> None:
        if not self.is_connected or not self.has_others:
            return
        for hint in hints:
            key = (hint.kind, hint.run_id)
            if key in self._pending or len(self._pending) < MAX_PENDING:
                self._pending[key] = max(hint.seq, self._pending.get(key, 0))
        if self._pending:
            self._is_pending.set()

    async def close(self) -> None:
        self._closing.set()
        if self._keeper is not None:
            await asyncio.wait([self._keeper])

    async def _keep(self) -> None:
        """Use one connection after the other until the bus closes."""
        failures = 0
        while True:
            reason = await self._use(self.new_connection())
            if self._closing.is_set():
                return
            failures = 1 if self._held_seconds > STEADY_SECONDS else failures + 1
            if failures == 1:
                log.warning("bus.disconnected", bus=self.name, error=reason)
            pause = min(FIRST_PAUSE * 2 ** min(failures, 10), LONGEST_PAUSE)
            await _within(pause * random.uniform(0.5, 1), self._closing.wait())

    async def _use(self, link: Connection) -> str:
        """Use a connection until it is lost, and return the reason, or until the bus closes, after a last flush."""
        self._held_seconds = 0.0
        closing = asyncio.create_task(self._closing.wait())
        sending = asyncio.create_task(self._send_windows(link))
        announcing = asyncio.create_task(self._announce(link))
        listening = asyncio.create_task(self._listen(link))
        tasks = (sending, announcing, listening)
        await asyncio.wait([closing, *tasks], return_when=asyncio.FIRST_COMPLETED)
        if closing.done() and self.is_connected:
            await _within(FAREWELL_SECONDS, self._flush(link))
        self._connected.clear()
        self._pending.clear()
        errors = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        await _end(closing, *tasks)
        await _within(FAREWELL_SECONDS, link.close())
        return type(errors[0]).__name__ if errors else ""  # never the text, which may contain a password

    async def _listen(self, link: Connection) -> NoReturn:
        now = asyncio.get_running_loop().time
        async with asyncio.timeout(self._patience):
            await link.open(self._on_message)
        opened_at = now()
        self._expect_others()  # others may have announced themselves a moment ago
        self._connected.set()
        log.info("bus.connected", bus=self.name)
        try:
            await link.watch()
        finally:
            self._held_seconds = now() - opened_at

    async def _announce(self, link: Connection) -> NoReturn:
        await self._connected.wait()
        while True:
            async with asyncio.timeout(self._patience), self._speaking:
                await link.publish([announcement(self._sender)])
            await asyncio.sleep(self._presence)

    def _expect_others(self) -> None:
        self._others_until = monotonic() + MISSED * self._presence

    async def _send_windows(self, link: Connection) -> NoReturn:
        while True:
            await self._is_pending.wait()
            async with asyncio.timeout(self._patience):
                await self._flush(link)
            await asyncio.sleep(WINDOW_SECONDS)

    async def _flush(self, link: Connection) -> None:
        async with self._speaking:
            pending, self._pending = self._pending, {}
            self._is_pending.clear()
            messages = encode(self._sender, [Hint(kind, run_id, seq) for (kind, run_id), seq in pending.items()])
            if messages:
                await link.publish(messages)

    def _on_message(self, message: str) -> None:
        sender, hints = decode(message)
        if not sender or sender == self._sender:
            return
        self._expect_others()
        if not hints:
            return
        try:
            self._on_hints(hints)
        except Exception as error:
            log.error("bus.handler_failed", bus=self.name, error=type(error).__name__)


async def _within(seconds: float, doing: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine for at most this time, and ignore its result."""
    task = asyncio.create_task(doing)
    await asyncio.wait([task], timeout=seconds)
    await _end(task)


async def _end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel tasks until they end: before Python 3.12 a `wait_for` inside a driver may swallow a cancellation."""
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=0.1)
    await asyncio.gather(*tasks, return_exceptions=True)
