"""Windows, pauses and shutdown of a bus, on a connection that a test controls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from runyard.buses.bus import Hint, decode
from runyard.buses.reconnecting import FAREWELL_SECONDS, WINDOW_SECONDS, OnMessage, ReconnectingBus
from tests.engine.bus.bus_processes import processes, until


class Link:
    """Open, publish and close without errors, unless a test sets one."""

    def __init__(self, line: FakeLine) -> None:
        self._line = line

    async def open(self, on_message: OnMessage) -> None:
        self._line.opened += 1
        if self._line.is_refusing:
            raise ConnectionRefusedError

    async def publish(self, messages: Sequence[str]) -> None:
        if not any(decode(message)[1] for message in messages):  # an announcement
            return
        if self._line.is_broken:
            raise ConnectionResetError
        self._line.published.append((asyncio.get_running_loop().time(), list(messages)))
        await asyncio.sleep(self._line.publish_seconds)

    async def watch(self) -> NoReturn:
        for _ in range(self._line.swallows):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self._line.swallowed += 1
        while True:
            await asyncio.Event().wait()

    async def close(self) -> None:
        self._line.closed += 1


class FakeLine(ReconnectingBus):
    name = "fake"
    opened = closed = swallows = swallowed = 0
    is_refusing = is_broken = False
    publish_seconds = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.published: list[tuple[float, list[str]]] = []

    def new_connection(self) -> Link:
        return Link(self)

    def hints(self, number: int) -> list[Hint]:
        return [hint for message in self.published[number][1] for hint in decode(message)[1]]


async def a_few_turns() -> None:
    """Run a turn of the event loop, in which no timer of the bus expires."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_first_hint_after_a_silence_goes_at_once() -> None:
    line = FakeLine()
    async with processes(line):
        line.send([Hint("work")])
        await a_few_turns()
        assert line.hints(0) == [Hint("work")]


async def test_later_hints_wait_for_the_next_window_and_are_merged() -> None:
    line = FakeLine()
    async with processes(line):
        line.send([Hint("work")])
        await a_few_turns()
        for seq in (4, 9, 7):
            line.send([Hint("log", "a", seq), Hint("log", "b", 1), Hint("cancel", "a"), Hint("work")])
        await a_few_turns()
        assert len(line.published) == 1
        await until(lambda: len(line.published) == 2)
        assert line.hints(1) == [Hint("log", "a", 9), Hint("log", "b", 1), Hint("cancel", "a"), Hint("work")]
        assert line.published[1][0] - line.published[0][0] > 0.9 * WINDOW_SECONDS
        assert 0.010 <= WINDOW_SECONDS <= 0.015


async def test_closing_waits_for_a_message_that_is_on_its_way_and_sends_the_rest() -> None:
    line = FakeLine()
    line.publish_seconds = FAREWELL_SECONDS / 10
    async with processes(line):
        line.send([Hint("work")])
        await a_few_turns()
        line.send([Hint("cancel", "a")])
    assert (line.hints(0), line.hints(1)) == ([Hint("work")], [Hint("cancel", "a")])
    assert line.published[1][0] - line.published[0][0] > 0.9 * line.publish_seconds


async def test_a_driver_that_swallows_a_cancellation_cannot_keep_a_bus_open() -> None:
    line = FakeLine()
    line.swallows = 2
    async with processes(line):
        pass
    assert (line.swallowed, line.closed) == (2, 1)


async def test_a_broker_that_refuses_is_asked_less_and_less_often() -> None:
    line = FakeLine()
    line.is_refusing = True
    async with processes(line):  # which waits for a connection for two seconds
        assert 3 <= line.opened <= 8
    assert line.closed == line.opened


async def test_a_connection_that_fails_to_send_is_replaced() -> None:
    line = FakeLine()
    async with processes(line):
        line.is_broken = True
        line.send([Hint("work")])
        await until(lambda: line.opened == 2)
        assert line.closed == 1
        line.is_broken = False
        await until(lambda: line.is_connected)
        line.send([Hint("cancel", "a")])
        await until(lambda: bool(line.published))
        assert line.hints(0) == [Hint("cancel", "a")]
