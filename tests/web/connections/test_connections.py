"""Connections cannot stop the server: header bytes, time and number are limited before a request is parsed."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest

from runyard.web.limits import connections
from runyard.web.limits.connections import ConnectionLimits
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Serve, Server
from tests.web.responses.test_problems import MEMORY

pytestmark = MEMORY

HEAD = b"GET /health HTTP/1.1\r\nhost: x\r\n"
END = b"\r\n"
POST = b"POST /api/threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"
ONE_OF_MANY = b"x-%d: " + b"y" * 8000 + b"\r\n"


class Raw:
    """A connection as a client has it that keeps to no rules."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[str, Any]]:
        """The status and the JSON of one answer."""
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            body = await self.reader.readexactly(int(length.partition(b":")[2]))
        return int(head.split()[1]), json.loads(body)

    async def refusal(self) -> tuple[int, str]:
        """The answer of a server that closes afterwards."""
        status, body = await self.answer()
        async with asyncio.timeout(PATIENCE):
            assert await self.reader.read() == b""
        return status, body["code"]


@asynccontextmanager
async def connected(server: Server, address: str = "127.0.0.1") -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, local_addr=(address, 0))
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


async def is_served(server: Server) -> bool:
    async with connected(server) as other:
        other.send(HEAD + END)
        return (await other.answer())[0] == 200


async def test_headers_over_the_limit_are_431_before_they_are_all_sent(serve: Serve) -> None:
    server = await serve()
    async with connected(server) as raw:
        raw.send(HEAD + b"".join(ONE_OF_MANY % number for number in range(5)))
        assert await raw.refusal() == (431, "headers_too_large")
    assert await is_served(server)


@pytest.mark.parametrize("head", [b"GET /" + b"x" * 40_000, HEAD + b"x: " + b"y" * 40_000, HEAD + b"a: b\r\n" * 7000])
async def test_no_way_to_make_a_head_large_gets_past_the_limit(serve: Serve, head: bytes) -> None:
    server = await serve()
    async with connected(server) as raw:
        for start in range(0, len(head), 1000):
            raw.send(head[start : start + 1000])
        assert await raw.refusal() == (431, "headers_too_large")


async def test_a_head_of_exactly_the_limit_is_read_however_it_is_cut(serve: Serve) -> None:
    server = await serve(max_header_bytes=500)
    fitting = HEAD + b"x: " + b"y" * (500 - len(HEAD) - len(b"x: \r\n\r\n")) + b"\r\n\r\n"
    assert len(fitting) == 500
    async with connected(server) as raw:
        for byte in fitting:
            raw.send(bytes([byte]))
            await asyncio.sleep(0)
        assert (await raw.answer())[0] == 200
        raw.send(fitting)
        assert (await raw.answer())[0] == 200
        raw.send(fitting[:-4] + b"y\r\n\r\n")
        assert await raw.refusal() == (431, "headers_too_large")


async def test_a_head_that_comes_with_the_end_of_a_body_has_its_limit_too(serve: Serve) -> None:
    server = await serve(max_header_bytes=500)
    body = b'{"user_id":"%b"}' % (b"x" * (1000 - len(b'{"user_id":""}')))
    async with connected(server) as raw:
        raw.send(POST + body[:500])
        raw.send(body[500:] + HEAD + b"x: " + b"y" * 600 + b"\r\n\r\n")
        status, _ = await raw.answer()
        assert status in (201, 431)
        if status == 201:
            assert await raw.refusal() == (431, "headers_too_large")


@pytest.mark.parametrize(("sent", "code"), [(HEAD, "too_slow"), (POST + b"{", "too_slow"), (b"", None)])
async def test_a_request_that_does_not_end_in_time_is_408_and_a_silent_connection_is_closed(
    serve: Serve, sent: bytes, code: str | None
) -> None:
    server = await serve(header_seconds=0.2, body_seconds=0.2)
    async with connected(server) as raw:
        raw.send(sent)
        if code is None:
            async with asyncio.timeout(PATIENCE):
                assert await raw.reader.read() == b""
        else:
            assert await raw.refusal() == (408, code)
    assert (await server.http.get("/api/threads")).json()["threads"] == [], "what did not end did nothing"


async def everything(reader: asyncio.StreamReader) -> bytes:
    """Read until the connection ends. A server that has closed it resets it if the client sends more."""
    received = b""
    with suppress(ConnectionResetError):
        while piece := await reader.read(4096):
            received += piece
    return received


@pytest.mark.parametrize("piece", [b"x", b"\r\n"])
async def test_sending_a_little_now_and_then_buys_no_time(serve: Serve, piece: bytes) -> None:
    server = await serve(header_seconds=0.5)
    async with connected(server) as raw, asyncio.timeout(PATIENCE):
        raw.send(HEAD[:-2] if piece == b"x" else b"")
        gone = asyncio.create_task(everything(raw.reader))
        while not gone.done():
            raw.send(piece)
            await asyncio.sleep(0.05)  # waits on purpose: it sends slowly
        assert (b"too_slow" in gone.result()) == (piece == b"x")


async def test_a_slow_body_that_no_route_reads_is_cut_off_too(serve: Serve) -> None:
    server = await serve(keys=True, body_seconds=0.3)
    async with connected(server) as raw:
        raw.send(POST + b"{")
        assert (await raw.answer())[1]["code"] == "key_required"
        async with asyncio.timeout(PATIENCE):
            rest = await raw.reader.read()
    assert rest == b"" or b"too_slow" in rest


async def test_time_does_not_run_while_the_server_answers_or_between_requests(serve: Serve, gate: Gate) -> None:
    server = await serve(header_seconds=0.2, body_seconds=0.2)
    run_id = await server.post("gated")
    await gate.until_reached()
    stream = await server.stream(f"/api/runs/{run_id}/events")
    async with connected(server) as raw:
        raw.send(HEAD + END)
        assert (await raw.answer())[0] == 200
        await asyncio.sleep(0.6)  # waits on purpose: longer than a head may take
        raw.send(HEAD + END)
        assert (await raw.answer())[0] == 200
    gate.open.set()
    await stream.to_end()
    assert stream.ended_cleanly


async def test_one_address_has_its_number_of_connections_and_others_are_served(serve: Serve) -> None:
    server = await serve(max_connections_per_address=3)
    async with connected(server) as one, connected(server) as two, connected(server) as three:
        for raw in (one, two, three):
            raw.send(HEAD + END)
            assert (await raw.answer())[0] == 200
        async with connected(server) as refused:
            assert await refused.refusal() == (503, "too_many_connections")
        async with connected(server, "127.0.0.2") as other:
            other.send(HEAD + END)
            assert (await other.answer())[0] == 200
    async with asyncio.timeout(PATIENCE):
        while not await _is_admitted(server):  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # waits on purpose: until the server has seen that they are closed


async def _is_admitted(server: Server) -> bool:
    async with connected(server) as raw:
        raw.send(HEAD + END)
        return (await raw.answer())[0] == 200


async def test_all_addresses_together_have_a_limit(serve: Serve) -> None:
    server = await serve(max_connections=4)
    async with AsyncExitStack() as opened:
        for number in range(2, 6):
            raw = await opened.enter_async_context(connected(server, f"127.0.0.{number}"))
            raw.send(HEAD + END)
            assert (await raw.answer())[0] == 200
        async with connected(server, "127.0.0.6") as refused:
            assert await refused.refusal() == (503, "too_many_connections")


async def test_heads_that_have_not_ended_are_limited_together(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_WAITING", 1000)
    server = await serve()
    half = HEAD + b"x: " + b"y" * 600
    async with connected(server) as one, connected(server) as two:
        one.send(half)
        await _until(lambda: _waiting(server) >= len(half))
        two.send(half)
        assert await two.refusal() == (503, "too_many_connections")
        assert await is_served(server), "a request that comes at once waits for nothing"
        one.send(b"\r\n\r\n")
        assert (await one.answer())[0] == 200
        await _until(lambda: _waiting(server) == 0)


def _waiting(server: Server) -> int:
    protocol: Any = server.uvicorn.config.http_protocol_class
    return int(protocol.all.waiting)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_bytes_that_are_not_http_get_a_400_problem_and_refusals_are_counted(serve: Serve) -> None:
    server = await serve()
    async with connected(server) as raw:
        raw.send(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
        assert await raw.refusal() == (400, "bad_request")
    async with connected(server) as raw:
        raw.send(b"x" * 40_000)
        assert (await raw.refusal())[0] in (400, 431)
    async with connected(server) as raw:
        raw.send(HEAD + b"x: " + b"y" * 40_000)
        await raw.refusal()
    assert 'code="headers_too_large"' in (await server.http.get("/metrics")).text


def test_a_process_with_few_files_keeps_some_for_itself_and_for_other_addresses(backend: str) -> None:
    limits = ConnectionLimits(1, 1, 1, 25_000, 10_000)
    few = limits.fitting(1024)
    assert (few.connections, few.per_address) == (896, 672)
    assert limits.fitting(1_000_000) == limits
    assert limits.fitting(10).connections == 1
