"""A client for the verbs that look at runs: of the server at `settings.url` or, if nobody is there, of the database.

The second way runs the same HTTP routes inside this process, without a worker. It works while no other process has the
SQLite file open, and always on Postgres; it is for looking and for stopping things, nothing is worked on. The API key
of the settings says whose runs are meant; without one it is the owner `local`, to whom a database may be opened.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from runyard.cli.options import settings_with
from runyard.errors import StartupError

if TYPE_CHECKING:
    from runyard.client import Client
    from runyard.settings import Settings

HERE = frozenset({"127.0.0.1", "localhost", "::1"})
PATIENCE = 30  # attempts: a follower waits about two minutes for a server that restarts


def run_with_client(work: "Callable[[Client, bool], Awaitable[None]]") -> None:
    """Connect, do the work, disconnect. The work is told whether anybody can be at work on runs meanwhile."""
    import asyncio

    async def connect_and_work() -> None:
        async with connected(settings_with()) as (client, is_live):
            await work(client, is_live)

    asyncio.run(connect_and_work())


@asynccontextmanager
async def connected(settings: "Settings") -> "AsyncIterator[tuple[Client, bool]]":
    from runyard.client import Client
    from runyard.client.connection import NoServer

    try:
        async with Client(settings.url, attempts=1) as client:
            await client.check()
    except NoServer:
        if not is_ours(settings) or not _is_there(settings):
            raise
    else:
        async with Client(settings.url, api_key=settings.plain_api_key, attempts=PATIENCE) as client:
            yield client, True
        return
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(in_this_process(settings, as_key=settings.plain_api_key))
        except StartupError as error:
            raise StartupError(
                f"Nobody answers at {settings.url}, and the database cannot be opened here: {error} "
                "If a server listens elsewhere, set RUNYARD_URL to its address."
            ) from None
        note = f"Nobody answers at {settings.url}; looking into {settings.database_label} directly."
        typer.secho(note, dim=True, err=True)
        yield client, settings.sqlite_path is None


def is_ours(settings: "Settings") -> bool:
    """Whether the server that we look for would use the database that we can open."""
    host = urlsplit(settings.url).hostname
    return host in HERE or host == settings.host


def _is_there(settings: "Settings") -> bool:
    """A database that never was there, nobody has used."""
    return settings.sqlite_path is None or settings.sqlite_path.exists()


@asynccontextmanager
async def in_this_process(settings: "Settings", as_key: str | None) -> "AsyncIterator[Client]":
    """Whoever can open the database needs no key; with one they are its owner."""
    from runyard.agents.declared.loading import App
    from runyard.app.asgi import create_app
    from runyard.cli.in_process import InProcess
    from runyard.client import Client
    from runyard.telemetry import logs

    logs.configure("console", "error")
    # nothing is worked on, so no agent is needed: somebody's whole app need not be imported to list runs
    without = settings.model_copy(update={"default_agent": None})
    app = create_app(without, App({}, {}), worker=False, keys=as_key is not None)
    async with (
        app.router.lifespan_context(app),
        Client(settings.url, api_key=as_key, transport=InProcess(app)) as client,
    ):
        yield client
