"""A receiver of push notifications: a small HTTP server on loopback that can be down, refuse, or not answer."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any, NamedTuple, Self


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class PushReceiver:
    """Takes POST requests and remembers those that it answered. Its port stays the same while it is down.

    `status` is what it answers. With `is_silent` it reads requests and does not answer; `waiting` counts these."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.received: list[Received] = []
        self.refused = 0
        self.waiting = 0
        self.status = 200
        self.is_silent = False
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.down()

    async def up(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def down(self) -> None:
        if self._server is not None:
            self._server.close()
            for writer in list(self._writers):
                writer.close()
            await self._server.wait_closed()
            self._server = None

    @property
    def states(self) -> list[str]:
        """The states that were received, without repetitions of the one before."""
        found = [each.body["statusUpdate"]["status"]["state"] for each in self.received if "statusUpdate" in each.body]
        names = [name.removeprefix("TASK_STATE_") for name in found]
        return [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]

    @property
    def texts(self) -> list[str]:
        """The texts of artifacts that were received."""
        made = [each.body["artifactUpdate"]["artifact"] for each in self.received if "artifactUpdate" in each.body]
        return ["".join(part.get("text", "") for part in artifact["parts"]) for artifact in made]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            if self.is_silent:
                self.waiting += 1
                await reader.read()  # until the sender gives up
                return
            if self.status < 300:
                self.received.append(Received(head[0].split()[1], headers, json.loads(body)))
            else:
                self.refused += 1
            writer.write(b"HTTP/1.1 %d X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % self.status)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
