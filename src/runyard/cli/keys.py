"""`runyard keys`: who may use a server. Whoever can open the database may change that; anybody else asks the server."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli.options import Json, settings_with
from runyard.cli.wording import seconds_in
from runyard.errors import Invalid, KeyRequired, StartupError

if TYPE_CHECKING:
    from runyard.client import Client
    from runyard.settings import Settings

program = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True, rich_markup_mode=None)


@program.command()
def create(
    owner: Annotated[str, typer.Option(help="Whose threads and runs it is for; `local` has those of `runyard dev`.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What it is for: read, write, approve, operate or all.", show_default="read write approve"),
    ] = None,
    label: Annotated[str, typer.Option(help="What it is for, in your own words.")] = "",
    expires: Annotated[str | None, typer.Option(help="When it ends to be valid: 30m, 12h, 90d.")] = None,
) -> None:
    """Make an API key and print it, this once."""
    from runyard.domain.api_key import OWNER

    if re.fullmatch(OWNER, owner) is None:
        raise Invalid(
            "--owner has 1 to 128 letters, digits, dots, dashes, underscores, @ or +, a letter or digit first."
        )
    seconds = None if expires is None else _seconds(expires)
    scopes = None if scope is None else _scopes(scope)

    async def work(client: "Client") -> None:
        made = await client.create_key(owner, label=label, scopes=scopes, expires_in=seconds)
        typer.secho(f"Key {made.key_id} for {made.owner} ({' '.join(made.scopes)}); it is not shown again:", err=True)
        typer.echo(made.key)

    _run(work)


@program.command("list")
def list_keys(
    owner: Annotated[str | None, typer.Option(help="Only keys of this owner.")] = None, json: Json = False
) -> None:
    """List API keys, newest first; never the keys themselves."""

    async def work(client: "Client") -> None:
        found = [key async for key in client.keys(owner=owner)]
        from runyard.cli import tables

        tables.print_json([tables.without_key(key) for key in found]) if json else tables.print_keys(found)

    _run(work)


@program.command()
def revoke(key_id: Annotated[str, typer.Argument(help="The id of a key.", show_default=False)]) -> None:
    """Make an API key worthless, for good; other processes notice within seconds."""

    async def work(client: "Client") -> None:
        revoked = await client.revoke_key(key_id)
        typer.echo(f"{revoked.key_id} is revoked")

    _run(work)


def _run(work: "Callable[[Client], Awaitable[None]]") -> None:
    import asyncio

    async def connect_and_work() -> None:
        async with _connected(settings_with()) as client:
            await work(client)

    asyncio.run(connect_and_work())


@asynccontextmanager
async def _connected(settings: "Settings") -> "AsyncIterator[Client]":
    """The database itself, or the server that has it open or is elsewhere."""
    from runyard.cli.connected import in_this_process, is_ours
    from runyard.client import Client

    if is_ours(settings) and not _is_held(settings):
        async with in_this_process(settings, as_key=None) as client:
            yield client
        return
    async with Client(settings.url, api_key=settings.plain_api_key, attempts=1) as client:
        try:
            yield client
        except KeyRequired:
            raise KeyRequired(
                f"The server at {settings.url} wants a key with the scope `operate`: set RUNYARD_API_KEY to one, or "
                "stop the server and make one."
            ) from None


def _is_held(settings: "Settings") -> bool:
    """Whether a server has the SQLite file open."""
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
    """As they were given, one by one or with commas between them."""
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
