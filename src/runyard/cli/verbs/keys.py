"""`runyard keys`: create, list and revoke API keys, in the database or over a server with the scope `operate`."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Argument, Group, Option
from runyard.cli.parsing.options import Json, settings_with
from runyard.cli.terminal.output import echo, secho
from runyard.cli.terminal.text import seconds_in
from runyard.errors import Invalid, KeyRequired, StartupError

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.settings import Settings

program = Group("Create, list and revoke API keys.")


@program.command()
def create(
    owner: Annotated[
        str, Option(help="The owner whose threads and runs the key gives access to; `runyard dev` uses `local`.")
    ],
    scope: Annotated[
        list[str] | None,
        Option(help="A scope of the key: read, write, approve, operate or all.", show_default="read write approve"),
    ] = None,
    label: Annotated[str, Option(help="A note on what the key is for.")] = "",
    expires: Annotated[str | None, Option(help="How long the key is valid: 30m, 12h, 90d.")] = None,
) -> None:
    """Create an API key and print it. It cannot be shown again."""
    from runyard.domain.api_key import OWNER

    if re.fullmatch(OWNER, owner) is None:
        raise Invalid("--owner must have 1 to 128 letters, digits or ._-@+ and start with a letter or digit.")
    seconds = None if expires is None else _seconds(expires)
    scopes = None if scope is None else _scopes(scope)

    async def work(client: "AnyClient") -> None:
        made = await client.create_key(owner, label=label, scopes=scopes, expires_in=seconds)
        secho(f"Key {made.key_id} for {made.owner} ({' '.join(made.scopes)}); it is not shown again:", err=True)
        echo(made.key or "")

    _run(work)


@program.command("list")
def list_keys(owner: Annotated[str | None, Option(help="Only keys of this owner.")] = None, json: Json = False) -> None:
    """List API keys, newest first, without their secrets."""

    async def work(client: "AnyClient") -> None:
        found = [key async for key in client.keys(owner=owner)]
        from runyard.cli.terminal import tables

        tables.print_json([tables.without_key(key) for key in found]) if json else tables.print_keys(found)

    _run(work)


@program.command()
def revoke(key_id: Annotated[str, Argument(help="The id of a key.")]) -> None:
    """Revoke an API key. Other processes reject it within seconds."""

    async def work(client: "AnyClient") -> None:
        revoked = await client.revoke_key(key_id)
        echo(f"{revoked.key_id} is revoked.")

    _run(work)


def _run(work: "Callable[[AnyClient], Awaitable[None]]") -> None:
    import asyncio

    async def connect_and_work() -> None:
        async with _connected(settings_with()) as client:
            await work(client)

    asyncio.run(connect_and_work())


@asynccontextmanager
async def _connected(settings: "Settings") -> "AsyncIterator[AnyClient]":
    """Open the database itself, or a client of the server that has it open or runs elsewhere."""
    from runyard.cli.clients.open_client import uses_own_database

    if uses_own_database(settings) and not _is_held(settings):
        from runyard.cli.clients.local_client import open_local_client

        async with open_local_client(settings, api_key=None) as local:
            yield local
        return
    from runyard.client import Client

    async with Client(settings.url, api_key=settings.api_key, attempts=1) as client:
        try:
            yield client
        except KeyRequired:
            raise KeyRequired(
                f"The server at {settings.url} requires a key with the scope `operate`: set RUNYARD_API_KEY to one, or "
                "stop the server and create one."
            ) from None


def _is_held(settings: "Settings") -> bool:
    """Return whether a server has the SQLite file open."""
    path = settings.sqlite_path
    if path is None or not path.exists():
        return False
    from runyard.stores.sqlite.files import DatabaseLock

    try:
        DatabaseLock(path.resolve()).close()
    except StartupError:
        return True
    return False


def _scopes(given: list[str]) -> list[str]:
    """Return the scopes, which may be given one by one or separated by commas."""
    from runyard.domain.api_key import ALL_SCOPES, SCOPES

    wanted = [word for text in given for word in re.split(r"[\s,]+", text) if word]
    for word in wanted:
        if word not in {*ALL_SCOPES, "all"}:
            raise Invalid(f"--scope must be {', '.join(SCOPES)} or all.")
    return sorted(ALL_SCOPES) if "all" in wanted else sorted(set(wanted))


def _seconds(text: str) -> int:
    seconds = seconds_in(text)
    if seconds is None:
        raise Invalid("--expires must be a time like 30m, 12h or 90d.")
    return seconds
