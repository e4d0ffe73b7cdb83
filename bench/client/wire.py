"""One connection to a server over a raw socket, one request at a time; it costs so little that the server is measured
and not the client. The pieces of a stream are kept with their arrival times and checked later (`oracle.py`).
"""

import asyncio
import json
from time import monotonic_ns
from typing import Any, cast

Piece = tuple[int, bytes]  # when it came, what came
HEAD_END = b"\r\n\r\n"
STREAM_END = b"\r\n0\r\n\r\n"  # the last chunk, after the end of the one before it


class Refused(Exception):
    """The server answered with an error, or hung up."""


class Wire(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[None] | None = None
        self._wants_head = True
        self._head = b""
        self._tail = b""
        self.pieces: list[Piece] = []

    @classmethod
    async def connect(cls, port: int) -> "Wire":
        _, wire = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return wire

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        """A request with a JSON answer."""
        await self.open(method, path, body)
        length = int(self._head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        while (missing := length - sum(len(data) for _, data in self.pieces)) > 0:
            await self._wait()
        if missing < 0:
            raise Refused(f"{method} {path}: more came than was announced")
        return json.loads(b"".join(data for _, data in self.pieces))

    async def open(self, method: str, path: str, body: object = None) -> None:
        """Send a request and wait for the head of its answer."""
        assert self._transport is not None
        content = b"" if body is None else json.dumps(body).encode()
        accepted = "Accept: application/json, text/event-stream"  # MCP needs both
        head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\n{accepted}\r\nContent-Type: application/json\r\n"
        self._wants_head, self._head, self._tail, self.pieces = True, b"", b"\r\n", []
        self._transport.write(b"%bContent-Length: %d\r\n\r\n%b" % (head.encode(), len(content), content))
        await self._wait()
        status = int(self._head.split(b" ", 2)[1])
        if status >= 300:
            raise Refused(f"{method} {path}: {status}")

    async def rest(self) -> list[Piece]:
        """The pieces of a stream that was opened, when it has ended."""
        while self._tail != STREAM_END:
            await self._wait()
        return self.pieces

    async def stream(self, method: str, path: str, body: object = None) -> list[Piece]:
        await self.open(method, path, body)
        return await self.rest()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def _wait(self) -> None:
        if self._transport is None or self._transport.is_closing():
            raise Refused("the server hung up")
        self._answer = asyncio.get_running_loop().create_future()
        await self._answer

    def _wake(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(None)

    # --- the socket's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one, but does not say so

    def data_received(self, data: bytes) -> None:
        now = monotonic_ns()
        if self._wants_head:
            self._head, end, data = (self._head + data).partition(HEAD_END)
            if not end:
                return
            self._wants_head = False
            self._wake()
        if data:
            self.pieces.append((now, data))
            self._tail = (self._tail + data)[-len(STREAM_END) :]
            if self._tail == STREAM_END or not self._is_stream:
                self._wake()

    @property
    def _is_stream(self) -> bool:
        return b"chunked" in self._head

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Refused("the server hung up"))
