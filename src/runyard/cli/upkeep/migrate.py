"""`runyard migrate`: upgrade the database schema, or check whether it is up to date."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Exit, Option
from runyard.cli.parsing.options import Json, Quiet, settings_with

if TYPE_CHECKING:
    from runyard.settings import Settings


def migrate(
    check: Annotated[bool, Option("--check", help="Change nothing; exit 1 if the database is behind.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Upgrade the database schema. Servers and workers do this when they start."""
    from runyard.app import server as serving

    work = _check if check else _apply
    serving.run(work(settings_with(), json, quiet))


async def _check(settings: "Settings", json: bool, quiet: bool) -> None:
    from runyard.cli.terminal.results import print_done
    from runyard.stores.migrations import HEAD
    from runyard.stores.migrations.current import current

    version = await current(settings.database_url)
    said = f"{settings.database_label}: schema {version or 'none'}, newest {HEAD}."
    print_done({"schema": version, "newest": HEAD}, said, json=json, quiet=quiet)
    if version is None or version < HEAD:
        raise Exit(1)


async def _apply(settings: "Settings", json: bool, quiet: bool) -> None:
    from runyard.app.factories import open_store
    from runyard.cli.terminal.results import print_done
    from runyard.stores.migrations import HEAD
    from runyard.stores.migrations.current import current

    before = await current(settings.database_url)
    store = open_store(settings)
    await store.open()
    await store.close()
    done = "is up to date" if before == HEAD else f"went from {before or 'nothing'} to {HEAD}"
    said = f"{settings.database_label}: schema {done}."
    print_done({"schema": HEAD, "before": before}, said, json=json, quiet=quiet)
