"""The output of a command in three forms: a table or a sentence for people, JSON for programs (`--json`), and ids or
nothing for scripts (`--quiet`)."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from runyard.cli.terminal.output import echo

if TYPE_CHECKING:
    from runyard.cli.terminal.text_table import TextTable


def print_json(value: object) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
    sys.stdout.flush()


def print_list(
    rows: Sequence[object],
    ids: Iterable[str],
    table: "TextTable",
    if_empty: str,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print a list: a table, JSON, or one id in a line."""
    if json:
        print_json(rows)
    elif quiet:
        for each in ids:
            echo(each)
    else:
        table.echo(if_empty)


def print_done(value: object, text: str, *, json: bool, quiet: bool) -> None:
    """Print what a command did: a sentence, JSON, or nothing."""
    if json:
        print_json(value)
    elif not quiet:
        echo(text)
