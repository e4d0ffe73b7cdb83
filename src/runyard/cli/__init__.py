"""The `runyard` command: one file per command.

`--help` is quick: at their top the files import only Typer and the errors, and a command imports the rest when it runs.
Help is plain text, because Rich would double the time. A failure prints one sentence on stderr, with exit code 2 if
Runyard cannot start and 1 otherwise. RUNYARD_DEBUG=1 shows tracebacks.
"""

import os
import sys
from typing import Annotated

import typer

from runyard.cli import (
    approvals,
    backup,
    chat,
    check,
    dev,
    doctor,
    encryption,
    keys,
    migrate,
    runs,
    serve,
    status,
    worker,
)
from runyard.errors import RunyardError, StartupError

program = typer.Typer(
    name="runyard",
    help="A self-hosted server for agent runs: one run, one log, every client.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (
    dev.dev,
    chat.chat,
    serve.serve,
    worker.worker,
    migrate.migrate,
    backup.backup,
    backup.restore,
    status.status,
    doctor.doctor,
    check.check,
):
    program.command()(verb)
program.add_typer(runs.program, name="runs")
program.add_typer(approvals.program, name="approvals")
keys.program.command("make-encryption")(encryption.make_encryption)
keys.program.command("rotate-encryption")(encryption.rotate_encryption)
program.add_typer(keys.program, name="keys")


def _version(wanted: bool) -> None:
    if wanted:
        from runyard import __version__

        typer.echo(f"runyard {__version__}")
        raise typer.Exit


@program.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    if os.environ.get("RUNYARD_DEBUG", "") not in {"", "0"}:
        program()
    try:
        program()
    except RunyardError as error:
        _fail(error.message, 2 if isinstance(error, StartupError) else 1)
    except Exception as error:  # a user sees a traceback only with RUNYARD_DEBUG
        message = " ".join(str(error).split())
        _fail(f"{type(error).__name__}: {message}\nThis is a bug in Runyard; set RUNYARD_DEBUG=1 to see where.", 1)


def _fail(message: str, code: int) -> None:
    typer.secho(f"runyard: {message}", err=True, fg="red" if sys.stderr.isatty() else None)
    sys.exit(code)
