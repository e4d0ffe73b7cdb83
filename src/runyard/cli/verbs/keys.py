"""`runyard keys`: create, list and revoke API keys, in the database or over a server with the scope `operate`."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.short_ids import whole_key_id
from runyard.cli.parsing.commands import Group, Option
from runyard.cli.parsing.options import Json, KeyId, Quiet, seconds_of, settings_with
from runyard.cli.terminal.output import echo, secho
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
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet", help="Print the key only.")] = False,
) -> None:
    """Create an API key and print it. It cannot be shown again."""
    from runyard.domain.api_key import OWNER

    if re.fullmatch(OWNER, owner) is None:
        raise Invalid("--owner must have 1 to 128 letters, digits or ._-@+ and start with a letter or digit.")
    seconds = None if expires is None else seconds_of("--expires", expires)
    scopes = None if scope is None else _scopes(scope)

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_json

        made = await client.create_key(owner, label=label, scopes=scopes, expires_in=seconds)
        if json:
            print_json(made)
            return
        if not quiet:
            secho(f"Key {made.key_id} for {made.owner} ({' '.join(made.scopes)}); it is not shown again:", err=True)
        echo(made.key or "")

    _run(work)


@program.command("list")
def list_keys(
    owner: Annotated[str | None, Option(help="Only keys of this owner.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List API keys, newest first, without their secrets."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import results, tables

        found = [key async for key in client.keys(owner=owner)]
        rows, ids = [tables.without_key(key) for key in found], (key.key_id for key in found)
        results.print_list(rows, ids, tables.keys_table(found), "No keys", json=json, quiet=quiet)

    _run(work)


@program.command()
def revoke(key_id: KeyId, json: Json = False, quiet: Quiet = False) -> None:
    """Revoke an API key. Other processes reject it within seconds."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import results, tables

        revoked = await client.revoke_key(await whole_key_id(client, key_id))
        said = f"{revoked.key_id} is revoked."
        results.print_done(tables.without_key(revoked), said, json=json, quiet=quiet)

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
