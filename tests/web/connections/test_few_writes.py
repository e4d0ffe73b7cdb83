"""A response takes few writes: its head goes out with the first bytes of its body, and its end with the last ones."""

import asyncio
import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from runyard.web.limits.connections import Bounded
from runyard.web.streaming.held_head import HOLD_SECONDS, HeldHead
from tests.support.in_process.live_server import Serve
from tests.web.connections.test_connections import Raw, connected
from tests.web.responses.test_problems import MEMORY

RUN = b'{"content":"hello"}'


class Transport:
    """Keeps what is written to it."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


class Loop:
    """An event loop whose rounds and time the test moves on."""

    def __init__(self) -> None:
        self._soon: list[Callable[[], None]] = []
        self._later: dict[Callable[[], None], float] = {}

    def call_soon(self, call: Callable[[], None]) -> None:
        self._soon.append(call)

    def call_later(self, seconds: float, call: Callable[[], None]) -> Any:
        self._later[call] = seconds
        return SimpleNamespace(cancel=lambda: self._later.pop(call))

    def run_round(self) -> None:
        while self._soon:
            self._soon.pop()()

    def pass_time(self) -> float:
        """Let the only timer fire, and return its seconds."""
        [(call, seconds)] = self._later.items()
        call()
        return seconds

    @property
    def is_idle(self) -> bool:
        return not (self._soon or self._later)


class Cycle:
    """The part of a response that `HeldHead` knows."""

    def __init__(self) -> None:
        self.real = Transport()
        self.loop = Loop()
        self.response_started = False
        loop = cast(asyncio.AbstractEventLoop, self.loop)
        self.transport: Any = self.real
        self.transport = HeldHead(cast(RequestResponseCycle, self), loop)


@pytest.fixture
def cycle() -> Cycle:
    return Cycle()


async def test_a_head_goes_out_with_the_first_bytes_of_the_body(cycle: Cycle) -> None:
    cycle.response_started = True
    cycle.transport.write(b"head ")
    assert cycle.real.written == []
    cycle.transport.write(b"body")
    assert cycle.real.written == [b"head body"]
    assert cycle.transport is cycle.real  # the rest of the body costs nothing more
    cycle.loop.run_round()
    assert cycle.loop.is_idle
    assert cycle.real.written == [b"head body"]


async def test_a_head_waits_a_moment_for_a_body_that_is_being_made(cycle: Cycle) -> None:
    cycle.response_started = True
    cycle.transport.write(b"head ")
    cycle.loop.run_round()
    assert cycle.real.written == []
    cycle.transport.write(b"body")
    assert cycle.real.written == [b"head body"]
    assert cycle.loop.is_idle


async def test_a_head_without_a_body_goes_out_after_that_moment(cycle: Cycle) -> None:
    cycle.response_started = True
    cycle.transport.write(b"head")
    cycle.loop.run_round()
    assert cycle.loop.pass_time() == HOLD_SECONDS
    assert cycle.real.written == [b"head"]
    assert cycle.loop.is_idle
    cycle.transport.write(b"body")
    assert cycle.real.written == [b"head", b"body"]


async def test_a_response_that_is_cut_has_its_head(cycle: Cycle) -> None:
    cycle.response_started = True
    cycle.transport.write(b"head")
    cycle.transport.close()
    assert cycle.real.written == [b"head"]
    assert cycle.real.is_closed


async def test_nothing_is_written_to_a_closed_connection(cycle: Cycle) -> None:
    cycle.response_started = True
    cycle.transport.write(b"head")
    cycle.real.is_closed = True
    cycle.loop.run_round()
    cycle.loop.pass_time()
    assert cycle.real.written == []


async def test_a_client_that_waits_before_it_sends_the_body_is_answered_at_once(cycle: Cycle) -> None:
    cycle.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert cycle.real.written == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    cycle.response_started = True
    cycle.transport.write(b"head ")
    cycle.transport.write(b"body")
    assert cycle.real.written[1:] == [b"head body"]


class Counted:
    """Counts the writes to a connection."""

    def __init__(self, transport: Any, writes: list[bytes]) -> None:
        self._transport = transport
        self._writes = writes

    def write(self, data: bytes) -> None:
        self._writes.append(bytes(data))
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@MEMORY
async def test_a_message_takes_one_write_and_the_stream_of_an_ended_run_one(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[bytes] = []
    made = Bounded.connection_made
    monkeypatch.setattr(Bounded, "connection_made", lambda self, it: made(self, cast(Any, Counted(it, writes))))
    server = await serve()
    async with connected(server) as raw:
        _, thread = await _post(raw, b"/api/threads", b"{}")
        _, posted = await _post(raw, b"/api/threads/%b/messages" % thread["thread_id"].encode(), RUN)
        assert len(writes) == 2
        path = b"/api/runs/%b/events" % posted["run_id"].encode()
        await _streamed(raw, path)
        writes.clear()
        body = await _streamed(raw, path)
    assert len(writes) == 1
    assert body.count(b"event: state") == 1


async def _post(raw: Raw, path: bytes, body: bytes) -> tuple[int, dict[str, Any]]:
    head = b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    raw.send(head % (path, len(body)) + body)
    return await raw.answer()


async def _streamed(raw: Raw, path: bytes) -> bytes:
    raw.send(b"GET %b HTTP/1.1\r\nhost: x\r\n\r\n" % path)
    return await raw.reader.readuntil(b"\r\n0\r\n\r\n")


@MEMORY
async def test_a_request_leaves_nothing_for_the_garbage_collector(serve: Serve) -> None:
    server = await serve()
    async with connected(server) as raw:
        _, thread = await _post(raw, b"/api/threads", b"{}")
        path = b"/api/threads/%b/messages" % thread["thread_id"].encode()
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                _, posted = await _post(raw, path, RUN)
                await _streamed(raw, b"/api/runs/%b/events" % posted["run_id"].encode())
            left = [each for each in gc.get_objects() if isinstance(each, RequestResponseCycle)]
        finally:
            gc.enable()
    assert len(left) <= 2  # the connection knows its last one
