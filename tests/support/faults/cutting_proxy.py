"""An HTTP proxy in front of pods that cuts every event stream after so many events: the client sees a connection that
ends without the end of the response. Each connection goes to the next pod."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import Self, cast
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
        """Pass a request on to a pod. A pod that is dead, or dies before it answers a GET, is replaced by the next one,
        as deploy/nginx.conf does."""
        connection = cast("asyncio.Task[None]", asyncio.current_task())
        self._tasks.add(connection)
        with suppress(OSError):
            request = bytearray(await reader.read(65536))
            pods, turn = self._pods(), next(self._turn)
            for n in range(len(pods)):
                if await self._ask(pods[(turn + n) % len(pods)], request, reader, writer):
                    writer.close()
                    break
            else:
                writer.transport.abort()
        self._tasks.discard(connection)

    async def _ask(
        self, pod: str, request: bytearray, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Pass a request on, and its answer back. Return False if another pod may be asked."""
        target = urlsplit(pod)
        try:
            there, back = await asyncio.open_connection(target.hostname, target.port)
        except OSError:
            return False
        back.write(request)
        answer = asyncio.create_task(self._answer(there, writer))
        rest = asyncio.create_task(_pass_on(reader, back, request))
        try:
            await asyncio.wait((answer, rest), return_when=asyncio.FIRST_COMPLETED)
            return not answer.done() or answer.result() or not request.startswith(b"GET")
        finally:
            back.close()
            for task in (answer, rest):
                task.cancel()
            await asyncio.gather(answer, rest, return_exceptions=True)

    async def _answer(self, source: asyncio.StreamReader, client: asyncio.StreamWriter) -> bool:
        """Pass on an answer; of a stream only as many events as a client may have. Return whether there was any."""
        has_begun = is_stream = False
        rest = b""
        left: int | None = None
        with suppress(OSError):
            while chunk := await source.read(65536):
                has_begun = True
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
                    return True
                if rest.endswith(LAST_CHUNK):  # the server keeps the connection open
                    client.write(rest)
                    rest = b""
            client.write(rest)
        return has_begun

    def _with_retry(self, beginning: bytes) -> bytes:
        """Add the reconnection time to the beginning of a stream, as a chunk of its own behind the headers."""
        if not self._retry:
            return beginning
        headers, end, body = beginning.partition(b"\r\n\r\n")
        return b"%b%b%x\r\n%b\r\n%b" % (headers, end, len(self._retry), self._retry, body)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter, passed: bytearray) -> None:
    """Pass on what a client says until it leaves. A pod that dies does not end this."""
    with suppress(OSError):
        while chunk := await source.read(65536):
            passed += chunk
            with suppress(OSError):
                target.write(chunk)
                await target.drain()
