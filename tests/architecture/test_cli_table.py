"""Every verb of the command line is documented, and the table says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from runyard.cli import program
from scripts import cli_table


def test_the_table_of_verbs_is_current() -> None:
    assert cli_table.is_current(), "run 'python -m scripts.cli_table'"


def test_every_verb_and_option_says_what_it_is_for() -> None:
    verbs = dict(cli_table.verbs(typer.main.get_command(program)))
    assert {"runyard dev", "runyard chat", "runyard runs list", "runyard approvals reject"} <= set(verbs)
    for name, command in verbs.items():
        assert (command.help or "").strip(), name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_a_stale_table_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_table, "TABLE", tmp_path / "cli.md")
    assert cli_table.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert cli_table.main([]) == 0
    assert cli_table.main(["--check"]) == 0
