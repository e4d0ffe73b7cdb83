"""A TCP proxy in front of a Postgres server that can be down, hang, delay, go silent, or lose answers: the server has
executed a statement, and the client gets no answer.

Pods name the purpose of each connection in its first packet (`CHANNEL`, see `pod_process.py`), so that a fault can hit
one purpose alone: the log hangs while heartbeats pass."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit, urlunsplit

HANDSHAKE_REPLIES = 6  # not cut: a connection that is never established shows nothing
BEGIN, COMMIT = b"BEGIN;", b"COMMIT;"
WRITES_AFTER = 4  # requests since BEGIN: a claim that found nothing has fewer before its COMMIT
COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
SERVER_NOTICES_SECONDS = 20.0  # by its keepalive; a client hears nothing of it
CHANNEL = "runyard.channel"
_CHANNEL = re.compile(CHANNEL.encode() + rb"\x00(\w+)\x00")


class _Link:
    """One connection of a client and the one that the proxy made for it."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client = client
        self.server = server
        self.channel = ""
        self.flows = asyncio.Event()
        self.flows.set()
        self.is_silent = False
        self.requests = 0  # since BEGIN; 0 outside of a transaction

    def abort(self) -> None:
        self.client.transport.abort()
        self.server.transport.abort()


class Proxy:
    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        parts = urlsplit(dsn)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0
        self._hangs: set[str] = set()  # channels; "" stands for all of them
        self.is_away = False
        self.delay_seconds = 0.0  # of everything that passes
        self.claim_delay_seconds = 0.0  # of each COMMIT of a claim on its way to the server
        self.claims_delayed = 0  # those that claimed something
        self.claims_lost = 0  # answers to those
        self._inside = asyncio.Event()  # whether anything passes after BEGIN
        self._inside.set()
        self.lose_every = 0  # of the replies (or commits) that pass; 0: none
        self.lose_channel = ""  # only the replies of this channel; "" stands for all of them
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
        for link in list(self._links):
            link.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def leave(self) -> None:
        """Refuse every connection from now on."""
        self.is_away = True
        self.cut()

    def come_back(self) -> None:
        self.is_away = False

    def hang(self, channel: str = "") -> None:
        """Stop all traffic without closing connections. `channel`: only over connections for that purpose."""
        self._hangs.add(channel)
        self._open_or_close()

    def hang_inside(self) -> None:
        """Let transactions begin, then stop their traffic."""
        self._inside.clear()

    def go_on(self, channel: str = "") -> None:
        self._hangs.discard(channel)
        self._inside.set()
        self._open_or_close()

    def go_silent(self) -> None:
        """Stop the traffic of existing connections without closing them. New ones work."""
        for link in self._links:
            link.is_silent = True
            link.flows.clear()
            asyncio.get_running_loop().call_later(SERVER_NOTICES_SECONDS, link.server.transport.abort)

    def half_close(self) -> None:
        """Half-close every connection: the server sends nothing more. The other direction stays open."""
        for link in self._heard:
            with suppress(OSError, RuntimeError):
                link.client.write_eof()

    def heal(self) -> None:
        """End every fault. Connections that went silent stay so."""
        self.is_away = False
        self.delay_seconds = self.claim_delay_seconds = 0.0
        self._inside.set()
        self.lose_every, self.lose_channel, self.only_commits = 0, "", False
        self._hangs.clear()
        self._open_or_close()

    def cut(self) -> None:
        """Close every connection. The clients of silent ones do not notice it."""
        for link in self._heard:
            link.abort()

    @property
    def _heard(self) -> list[_Link]:
        return [link for link in self._links if not link.is_silent]

    def _open_or_close(self) -> None:
        if self.is_away:
            self.cut()
        for link in self._links:
            if link.is_silent or self._hangs & {"", link.channel}:
                link.flows.clear()
            else:
                link.flows.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_away:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        link = _Link(writer, back)
        self._links.add(link)
        self._open_or_close()
        tasks = [
            asyncio.create_task(self._pump(reader, back, link, replies=False)),
            asyncio.create_task(self._pump(there, writer, link, replies=True)),
        ]
        self._tasks |= set(tasks)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        link.abort()
        self._links.discard(link)
        await asyncio.wait(tasks)
        self._tasks -= set(tasks)

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, link: _Link, replies: bool
    ) -> None:
        count = 0
        with suppress(OSError, RuntimeError):  # it was closed, or half-closed
            while chunk := await source.read(65536):
                count += 1
                if not replies and not link.channel and (named := _CHANNEL.search(chunk)):
                    link.channel = named[1].decode()
                    self._open_or_close()
                if not replies:
                    _count(link, chunk)
                await link.flows.wait()
                if not replies and link.requests > 1:
                    await self._inside.wait()
                if wait := self._delay(link, chunk, replies):
                    await asyncio.sleep(wait)
                if replies and count > HANDSHAKE_REPLIES and self._loses(chunk, link):
                    return
                target.write(chunk)
                await target.drain()
        if link.is_silent:
            await link.flows.wait()  # the end of one side is not passed on either

    def _delay(self, link: _Link, chunk: bytes, replies: bool) -> float:
        if replies or link.channel != "claims" or COMMIT not in chunk or not self.claim_delay_seconds:
            return self.delay_seconds
        self.claims_delayed += link.requests > WRITES_AFTER
        return self.claim_delay_seconds

    def _loses(self, reply: bytes, link: _Link) -> bool:
        if not self.lose_every or self.lose_channel not in ("", link.channel):
            return False
        if self.only_commits and COMMITTED not in reply:
            return False
        self._passed += 1
        if self._passed % self.lose_every:
            return False
        self.lost += 1
        self.claims_lost += link.channel == "claims" and link.requests > WRITES_AFTER
        return True


def _count(link: _Link, chunk: bytes) -> None:
    if BEGIN in chunk:
        link.requests = 1
    elif link.requests:
        link.requests += 1
