"""A TCP proxy in front of a server that can be away, hang, or lose answers: it was done, and the client never hears."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit, urlunsplit

HANDSHAKE_REPLIES = 6  # not cut: a connection that is never established shows nothing
COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"


class Proxy:
    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        parts = urlsplit(dsn)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        self._links: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0
        self.is_away = False
        self._flows = asyncio.Event()
        self._flows.set()
        self.lose_every = 0  # of the replies (or commits) that pass; 0: none
        self.only_commits = False
        self._passed = 0
        self.lost = 0

    @property
    def url(self) -> str:
        parts = urlsplit(self._dsn)
        user = f"{parts.username}@" if parts.username else ""
        return urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{self._port}"))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def leave(self) -> None:
        """Refuse connections from now on."""
        self.is_away = True
        self.cut()

    def come_back(self) -> None:
        self.is_away = False

    def hang(self) -> None:
        """Drop all bytes from now on, without closing a connection."""
        self._flows.clear()

    def go_on(self) -> None:
        self._flows.set()

    def go_silent(self) -> None:
        """Nothing passes any more over the connections there are, and none of them is closed. New ones work."""
        self._flows, silenced = asyncio.Event(), self._flows
        self._flows.set()
        silenced.clear()

    def _cut_if_away(self) -> None:
        if self.is_away:
            self.cut()

    def cut(self) -> None:
        for link in list(self._links):
            link.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_away:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        self._links |= {writer, back}
        self._cut_if_away()  # it may have left while we waited
        flows = self._flows
        pumps = [self._pump(reader, back, flows, replies=False), self._pump(there, writer, flows, replies=True)]
        tasks = [asyncio.create_task(pump) for pump in pumps]
        self._tasks |= set(tasks)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for end in (writer, back):
            end.transport.abort()
            self._links.discard(end)
        await asyncio.wait(tasks)
        self._tasks -= set(tasks)

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, flows: asyncio.Event, replies: bool
    ) -> None:
        count = 0
        with suppress(OSError):
            while chunk := await source.read(65536):
                count += 1
                await flows.wait()
                if replies and count > HANDSHAKE_REPLIES and self._loses(chunk):
                    return
                target.write(chunk)
                await target.drain()

    def _loses(self, reply: bytes) -> bool:
        if not self.lose_every or (self.only_commits and COMMITTED not in reply):
            return False
        self._passed += 1
        if self._passed % self.lose_every:
            return False
        self.lost += 1
        return True
