"""Every verb of the command line is documented, and the table says what the code does."""

from __future__ import annotations

from runyard.cli import program


def test_every_verb_and_option_says_what_it_is_for() -> None:
    verbs = dict(program.commands("runyard"))
    assert {"runyard dev", "runyard chat", "runyard runs list", "runyard approvals reject"} <= set(verbs)
    for name, command in verbs.items():
        assert command.help, name
        for parameter in command.parameters:
            assert parameter.help, f"{name} {parameter.name}"
