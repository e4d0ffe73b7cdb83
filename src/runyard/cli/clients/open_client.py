"""Open a client for a command: of the server at `settings.url` or, if no server answers, of the database.

The database can be opened while no other process has the SQLite file open, and always on Postgres. Such a client reads
and changes runs, but no worker executes them meanwhile. The API key of the settings selects the owner; without a key it
is the owner `local`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runyard.cli.parsing.options import settings_with
from runyard.cli.terminal.output import secho
from runyard.errors import StartupError

if TYPE_CHECKING:
    from runyard.cli.clients.local_client import LocalClient
    from runyard.client import Client
    from runyard.settings import Settings

    AnyClient = Client | LocalClient

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
ATTEMPTS = 30  # a follower waits about two minutes for a server that restarts
CONNECT_SECONDS = 5.0


def run_with_client(work: "Callable[[AnyClient], Awaitable[None]]", *, quiet: bool = False) -> None:
    """Open a client and call `work(client)`. With `quiet`, no note says that the database is read directly."""

    async def work_in_any_case(client: "AnyClient", has_workers: bool) -> None:
        await work(client)

    run_knowing_workers(work_in_any_case, quiet=quiet)


def run_knowing_workers(work: "Callable[[AnyClient, bool], Awaitable[None]]", *, quiet: bool = False) -> None:
    """Open a client and call `work(client, has_workers)`, as `run_with_client`. `has_workers` is false if no worker can
    execute runs."""
    import asyncio

    async def connect_and_work() -> None:
        async with open_client(settings_with(), quiet=quiet) as (client, has_workers):
            await work(client, has_workers)

    asyncio.run(connect_and_work())


@asynccontextmanager
async def open_client(settings: "Settings", *, quiet: bool = False) -> "AsyncIterator[tuple[AnyClient, bool]]":
    if uses_own_database(settings) and _exists(settings) and not is_listening(settings.url):
        async with _local_client(settings, quiet) as client:
            yield client, settings.sqlite_path is None
    else:
        async with server_client(settings) as server:
            yield server, True


@asynccontextmanager
async def server_client(settings: "Settings") -> "AsyncIterator[Client]":
    """Open a client of the server at `settings.url`. Unavailable if no server answers."""
    from runyard.client import Client

    async with Client(settings.url, attempts=1) as client:
        await client.check()
    async with Client(settings.url, api_key=settings.api_key, attempts=ATTEMPTS) as client:
        yield client


@asynccontextmanager
async def _local_client(settings: "Settings", quiet: bool) -> "AsyncIterator[LocalClient]":
    from runyard.cli.clients.local_client import open_local_client

    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(open_local_client(settings, settings.api_key))
        except StartupError as error:
            raise StartupError(
                f"No server answers at {settings.url}, and the database cannot be opened: {error} "
                "If a server listens elsewhere, set RUNYARD_URL to its address."
            ) from None
        if not quiet:
            note = f"No server answers at {settings.url}; reading {settings.database_label} directly."
            secho(note, dim=True, err=True)
        yield client


def uses_own_database(settings: "Settings") -> bool:
    """Return whether the server at `settings.url` would use the database of these settings."""
    host = urlsplit(settings.url).hostname
    return host in LOOPBACK or host == settings.host


def _exists(settings: "Settings") -> bool:
    """Return whether there is a database to open. A command must not create one."""
    return settings.sqlite_path is None or settings.sqlite_path.exists()


def is_listening(url: str, seconds: float = CONNECT_SECONDS) -> bool:
    """Return whether a process accepts connections at this address."""
    import socket

    parts = urlsplit(url)
    address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    try:
        socket.create_connection(address, seconds).close()
    except OSError:
        return False
    return True
