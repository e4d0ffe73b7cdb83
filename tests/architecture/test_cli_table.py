"""Every verb of the command line is documented, and the table says what the code does."""

from __future__ import annotations

import typer

from runyard.cli import program
from scripts import cli_table


def test_every_verb_and_option_says_what_it_is_for() -> None:
    verbs = dict(cli_table.verbs(typer.main.get_command(program)))
    assert {"runyard dev", "runyard chat", "runyard runs list", "runyard approvals reject"} <= set(verbs)
    for name, command in verbs.items():
        assert (command.help or "").strip(), name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"
