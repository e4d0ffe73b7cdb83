"""A reader of server-sent events that keeps exact bytes: its own socket, its own chunks, no client library between.

`body` is what the server sent, without the framing of the chunks. `frames` and `comments` are read from it strictly: a
block that is neither a frame nor a comment in exactly our form fails the test that looks at it.
"""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from tests.support.eventually import PATIENCE

_FRAME = re.compile(rb"id: ([1-9][0-9]*)\nevent: ([a-z_.]+)\ndata: ([^\n\r]*)")
_COMMENT = re.compile(rb": [^\n\r]*")


class Frame(NamedTuple):
    id: int
    event: str
    data: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.data)


class RawStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.ended_cleanly = False
        self.was_cut = False

    @classmethod
    async def open(
        cls, port: int, path: str, headers: Mapping[str, str], receive_buffer: int = 0, body: Any = None
    ) -> "RawStream":
        """Send the request (a POST, if it has a body) and read the head of the answer. A small `receive_buffer` makes a
        reader that is stuck until it reads."""
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=max(receive_buffer, 1024))
        stream = cls(reader, writer)
        content = b"" if body is None else msgspec.json.encode(body)
        said = {"content-type": "application/json", "content-length": str(len(content))} if content else {}
        lines = [f"{'POST' if content else 'GET'} {path} HTTP/1.1", "host: test"]
        lines += [f"{name}: {value}" for name, value in {**said, **headers}.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + content)
        async with asyncio.timeout(PATIENCE):
            await stream._read_head()
        return stream

    async def _read_head(self) -> None:
        self.status = int((await self._reader.readline()).split()[1])
        while (line := await self._reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            self.headers.append((name.lower(), value.strip()))

    def header(self, name: str) -> list[str]:
        return [value for found, value in self.headers if found == name]

    async def until(self, enough: Callable[[], bool]) -> None:
        """Read until enough has come; fail if the stream ends before."""
        async with asyncio.timeout(PATIENCE):
            while not enough():
                assert await self._read_chunk(), f"the stream ended too early: {bytes(self.body)!r}"

    async def to_end(self) -> None:
        async with asyncio.timeout(PATIENCE):
            if self.header("content-length"):
                self.body += await self._reader.readexactly(int(self.header("content-length")[0]))
            else:
                while await self._read_chunk():
                    pass
        await self.close()

    async def first_frame(self) -> None:
        await self.until(lambda: bool(self.frames))

    async def frames_to(self, event: str) -> list[Frame]:
        """Read until a frame of that name has come."""
        await self.until(lambda: any(frame.event == event for frame in self.frames))
        return self.frames

    async def pings(self, count: int) -> None:
        """Read until that many more heartbeats have come: whatever was on its way has arrived by then."""
        wanted = len(self.comments) + count
        await self.until(lambda: len(self.comments) >= wanted)

    async def _read_chunk(self) -> bool:
        try:
            size = await self._reader.readline()
            if not size.endswith(b"\r\n"):
                self.was_cut = True
                return False
            chunk = await self._reader.readexactly(int(size, 16) + 2)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.was_cut = True
            return False
        self.body += chunk[:-2]
        self.ended_cleanly = chunk == b"\r\n"
        return not self.ended_cleanly

    @property
    def socket(self) -> Any:
        return self._writer.get_extra_info("socket")

    def abort(self) -> None:
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    @property
    def blocks(self) -> list[bytes]:
        """The blocks between empty lines. The last one is left out, because it may be incomplete."""
        return bytes(self.body).split(b"\n\n")[:-1]

    @property
    def frames(self) -> list[Frame]:
        return [_frame(block) for block in self.blocks if not _COMMENT.fullmatch(block)]

    @property
    def comments(self) -> list[bytes]:
        return [block for block in self.blocks if _COMMENT.fullmatch(block)]

    @property
    def ids(self) -> list[int]:
        return [frame.id for frame in self.frames]

    @property
    def events(self) -> list[str]:
        return [frame.event for frame in self.frames]

    @property
    def wire(self) -> list[tuple[str, Any]]:
        """Names and data, in order."""
        return [(frame.event, frame.json) for frame in self.frames]


def _frame(block: bytes) -> Frame:
    found = _FRAME.fullmatch(block)
    assert found, f"not a frame: {block!r}"
    return Frame(int(found[1]), found[2].decode(), found[3])
