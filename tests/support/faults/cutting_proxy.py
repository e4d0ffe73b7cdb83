"""An HTTP proxy in front of pods that cuts every event stream after so many events: the client sees a connection that
ends without the end of the response. Each connection goes to the next pod."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import Self
from urllib.parse import urlsplit

STREAM = b"text/event-stream"
END = b"\n\n"
LAST_CHUNK = b"0\r\n\r\n"


class CuttingProxy:
    """`pods` returns the addresses of the pods that are up. `events`: after how many events a stream is cut; None: it
    is not. `numbers` has that number for each stream, instead. Heartbeats are not counted as events. `retry_ms`: every
    stream begins with this reconnection time, for clients that otherwise wait for seconds."""

    def __init__(
        self,
        pods: Callable[[], Sequence[str]],
        events: int | None = 1,
        numbers: Iterator[int] | None = None,
        retry_ms: int | None = None,
    ) -> None:
        self._pods = pods
        self.events = events
        self._numbers = numbers
        self._retry = b"" if retry_ms is None else b"retry: %d\n\n" % retry_ms
        self.cuts = 0
        self.passed = 0  # events of all streams
        self.heartbeats = 0
        self._turn = count()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pods = self._pods()
        try:
            target = urlsplit(pods[next(self._turn) % len(pods)])
            there, back = await asyncio.open_connection(target.hostname, target.port)
        except (OSError, ZeroDivisionError):
            writer.transport.abort()
            return
        tasks = {asyncio.create_task(_pass_on(reader, back)), asyncio.create_task(self._answer(there, writer))}
        self._tasks |= tasks
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for each in (back, writer):
            each.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks -= tasks

    async def _answer(self, source: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Pass on an answer; of a stream only as many events as a client may have."""
        is_stream, rest = False, b""
        left: int | None = None
        with suppress(OSError):
            while chunk := await source.read(65536):
                if not is_stream and STREAM in chunk:
                    is_stream, left = True, self.events if self._numbers is None else next(self._numbers)
                    chunk = self._with_retry(chunk)
                if not is_stream or left is None:
                    self.heartbeats += chunk.count(b": ping")
                    client.write(chunk)
                    await client.drain()
                    continue
                rest += chunk
                while (at := rest.find(END)) >= 0 and left:
                    frame, rest = rest[: at + len(END)], rest[at + len(END) :]
                    self.heartbeats += b": ping" in frame
                    client.write(frame)
                    await client.drain()
                    if b"data:" in frame:
                        left, self.passed = left - 1, self.passed + 1
                if not left:
                    self.cuts += 1
                    return
                if rest.endswith(LAST_CHUNK):  # the server keeps the connection open
                    client.write(rest)
                    rest = b""
            client.write(rest)

    def _with_retry(self, beginning: bytes) -> bytes:
        """Add the reconnection time to the beginning of a stream, as a chunk of its own behind the headers."""
        if not self._retry:
            return beginning
        headers, end, body = beginning.partition(b"\r\n\r\n")
        return b"%b%b%x\r\n%b\r\n%b" % (headers, end, len(self._retry), self._retry, body)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(65536):
            target.write(chunk)
            await target.drain()
