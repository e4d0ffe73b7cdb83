"""`runyard backup` and `runyard restore`: copies of an SQLite database. Postgres has its own tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Argument, Option
from runyard.cli.parsing.options import Json, Quiet, settings_with
from runyard.errors import StartupError

if TYPE_CHECKING:
    from runyard.settings import Settings


def backup(
    copy: Annotated[Path, Argument(help="The file to write.", completes="file")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy the SQLite database while it is in use. The copy is consistent, and no request waits for it."""
    from runyard.cli.terminal.results import print_done
    from runyard.cli.terminal.text import size
    from runyard.stores.sqlite import backup as sqlite_backup

    written = sqlite_backup.backup(_database(settings_with()), copy)
    done = {"copy": str(copy), "bytes": written}
    print_done(done, f"{copy}: {size(written)}.", json=json, quiet=quiet)


def restore(
    copy: Annotated[Path, Argument(help="The file that `runyard backup` wrote.", completes="file")],
    replace: Annotated[bool, Option("--replace", help="Overwrite the existing database.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Replace the SQLite database by a copy. No server may have it open."""
    from runyard.cli.terminal.results import print_done
    from runyard.stores.sqlite import backup as sqlite_backup

    database = _database(settings_with())
    version = sqlite_backup.restore(copy, database, replace)
    done = {"database": str(database), "schema": version}
    print_done(done, f"{database}: restored, schema {version}.", json=json, quiet=quiet)


def _database(settings: "Settings") -> Path:
    if settings.sqlite_path is None:
        raise StartupError(
            "`runyard backup` is for SQLite. Back up Postgres with pg_dump or pg_basebackup: see docs/operations.md."
        )
    return settings.sqlite_path
