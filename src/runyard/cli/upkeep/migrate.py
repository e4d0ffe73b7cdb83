"""`runyard migrate`: upgrade the database schema, or check whether it is up to date."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Exit, Option
from runyard.cli.parsing.options import settings_with
from runyard.cli.terminal.output import echo

if TYPE_CHECKING:
    from runyard.settings import Settings


def migrate(
    check: Annotated[bool, Option("--check", help="Change nothing; exit 1 if the database is behind.")] = False,
) -> None:
    """Upgrade the database schema. Servers and workers do this when they start."""
    from runyard.app import server as serving

    serving.run(_check(settings_with()) if check else _apply(settings_with()))


async def _check(settings: "Settings") -> None:
    from runyard.stores.migrations import HEAD
    from runyard.stores.migrations.current import current

    version = await current(settings.database_url)
    echo(f"{settings.database_label}: schema {version or 'none'}, newest {HEAD}.")
    if version is None or version < HEAD:
        raise Exit(1)


async def _apply(settings: "Settings") -> None:
    from runyard.app.factories import open_store
    from runyard.stores.migrations import HEAD
    from runyard.stores.migrations.current import current

    before = await current(settings.database_url)
    store = open_store(settings)
    await store.open()
    await store.close()
    done = "is up to date" if before == HEAD else f"went from {before or 'nothing'} to {HEAD}"
    echo(f"{settings.database_label}: schema {done}.")
