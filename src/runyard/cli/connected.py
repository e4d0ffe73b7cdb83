"""A client for the verbs that look at runs: of the server at `settings.url` or, if nobody is there, of the database.

The second way runs the same HTTP routes inside this process, without a worker. It works while no other process has the
SQLite file open, and always on Postgres; it is for looking and for stopping things, nothing is worked on.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
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
    from runyard.client.connection import NobodyAnswers

    try:
        async with Client(settings.url, attempts=1) as client:
            await client.check()
    except NobodyAnswers:
        if not _is_ours(settings):
            raise
    else:
        async with Client(settings.url, attempts=PATIENCE) as client:
            yield client, True
        return
    async with _in_this_process(settings) as client:
        yield client, settings.sqlite_path is None


def _is_ours(settings: "Settings") -> bool:
    """Whether the server we looked for would have used the database we can open. One that never was there did not."""
    host = urlsplit(settings.url).hostname
    path = settings.sqlite_path
    return (host in HERE or host == settings.host) and (path is None or path.exists())


@asynccontextmanager
async def _in_this_process(settings: "Settings") -> "AsyncIterator[Client]":
    from runyard import wiring
    from runyard.agents.loading import App
    from runyard.cli.in_process import InProcess
    from runyard.client import Client
    from runyard.telemetry import logs

    logs.configure("console", "error")
    # nothing is worked on, so no agent is needed: somebody's whole app need not be imported to list runs
    app = wiring.create_app(settings.model_copy(update={"default_agent": None}), App({}, {}), worker=False)
    lifespan = app.router.lifespan_context(app)
    try:
        await lifespan.__aenter__()
    except StartupError as error:
        raise StartupError(
            f"Nobody answers at {settings.url}, and the database cannot be opened here: {error} "
            "If a server listens elsewhere, set RUNYARD_URL to its address."
        ) from None
    try:
        note = f"Nobody answers at {settings.url}; looking into {settings.database_label} directly."
        typer.secho(note, dim=True, err=True)
        async with Client(settings.url, transport=InProcess(app)) as client:
            yield client
    finally:
        await lifespan.__aexit__(None, None, None)
