"""`runyard mcp`: a server of MCP over stdio, for programs that start their servers themselves.

It passes messages on to the server at RUNYARD_URL with the key RUNYARD_API_KEY. Messages are lines on stdin and stdout;
everything else goes to stderr.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from runyard.cli.parsing.options import settings_with

if TYPE_CHECKING:
    import asyncio

STDIN = 0
CHUNK = 65536


def mcp() -> None:
    """Serve the agents as MCP tools over stdio.

    Messages are passed on to the server at RUNYARD_URL. The end of the input ends the program.
    """
    import asyncio

    asyncio.run(_serve())


async def _serve() -> None:
    import asyncio
    import sys

    from runyard.cli.clients.open_client import ATTEMPTS, server_client
    from runyard.client.connection import Connection, back_off
    from runyard.client.mcp_bridge import Bridge

    settings = settings_with()
    async with server_client(settings):  # an error on stderr if no server answers
        pass

    async def write(line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    connection = Connection(settings.url, settings.api_key, None, ATTEMPTS, back_off)
    try:
        await Bridge(connection, write).run(_lines(asyncio.get_running_loop()))
    finally:
        await connection.close()


async def _lines(loop: "asyncio.AbstractEventLoop") -> AsyncIterator[bytes]:
    """Yield the lines of stdin. A daemon thread reads them, because stdin may be a file. It reads without the buffer of
    Python, whose lock would hold up the end of the program."""
    import asyncio
    import os
    from contextlib import suppress
    from threading import Thread

    queue: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        rest = b""
        with suppress(RuntimeError, OSError):  # the loop has ended, or stdin is closed
            while chunk := os.read(STDIN, CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    loop.call_soon_threadsafe(queue.put_nowait, line + b"\n")
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(queue.put_nowait, b"")

    Thread(target=read, name="stdin", daemon=True).start()
    while line := await queue.get():
        yield line
