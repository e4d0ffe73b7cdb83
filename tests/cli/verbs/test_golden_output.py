"""Compare the output of commands in terminals of 80 and 200 columns with tests/cli/verbs/golden. The commands run as a
person starts them, against a server whose objects never change.

`WRITE_GOLDEN=1 pytest tests/cli/verbs/test_golden_output.py` writes the files again; look at the difference.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from runyard import cli
from runyard.cli.terminal import text
from runyard.cli.terminal.output import unstyled
from runyard.cli.upkeep import doctor
from runyard.cli.upkeep.doctor import Finding
from runyard.cli.verbs import keys
from tests.cli.verbs.fixed_server import LONG, NOW, WIDE, an_id, fixed_server

pytestmark = pytest.mark.in_process

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = [
    "runs list",
    "runs list --limit 2",
    f"runs show {an_id(3)[-8:]}",
    "runs show nothing-like-it",
    "runs shwo",
    "runs list --limit few",
    "usage",
    "usage --by day --since 12h",
    "status",
    "doctor",
    "approvals list",
    f"approvals show {an_id(5)[-8:]}",
    "waits list",
    f"waits show {an_id(6)[-8:]}",
    "keys list",
    "threads list",
    "threads search which",
    f"threads show {an_id(2)[-8:]}",
    "channels list",
    "channels unread",
    f"shares list {an_id(2)}",
    f"feedback show {an_id(3)}",
    f"feedback show {an_id(1)}",
    "agents list",
    "agents show mara",
    "memory list mara",
    f"memory show mara {an_id(10)[-8:]}",
    "--help",
    "runs --help",
    "runs list --help",
    "chat --help",
]
FINDINGS = [
    Finding(True, "Python", "3.13.1"),
    Finding(True, "SQLite", "3.46.1", LONG),
    Finding(False, "httpx2", "missing", "Run `pip install runyard` again."),
    Finding(True, "workers", "pod-1 (25 s left)\npod-2 (lease expired)"),
    Finding(False, "disk", "12 MB free", WIDE),
]


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A terminal in a folder without a database, and a server. What the machine itself has is fixed, too."""

    async def examined() -> list[Finding]:
        return FINDINGS

    for name in os.environ:
        if name.startswith("RUNYARD_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text, "now", lambda: NOW)
    monkeypatch.setattr(doctor, "examine", examined)
    monkeypatch.setattr("runyard.telemetry.logs.configure", lambda *_: None)  # the log is that of the tests
    monkeypatch.setattr(keys, "_is_held", lambda settings: True)
    with fixed_server() as url:
        monkeypatch.setenv("RUNYARD_URL", url)
        yield


@pytest.mark.usefixtures("installation")
@pytest.mark.parametrize("columns", [80, 200])
def test_the_output_is_as_it_was(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = "\n".join(transcript(command, capsys) for command in COMMANDS)
    file = GOLDEN / f"{columns}_columns.txt"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(printed, encoding="utf-8")
    assert printed == file.read_text(encoding="utf-8")
    assert [line for line in printed.splitlines() if cell_len(line) > columns] == []


def transcript(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The command with what it prints, and its exit code unless it is 0."""
    try:
        code: object = cli.run(command.split())
    except SystemExit as end:  # the help of a command
        code = end.code
    printed = capsys.readouterr()
    return f"$ runyard {command}\n{unstyled(printed.out + printed.err)}" + (f"exit code {code}\n" if code else "")


WITHOUT = {  # verbs whose output has one form
    "runyard mcp": {"--json", "--quiet"},  # the messages of MCP
    "runyard completion": {"--json", "--quiet"},  # a script
    "runyard keys make-encryption": {"--quiet"},  # the key only
    "runyard runs export": {"--json"},  # lines of JSON
}


def test_every_verb_has_json_and_quiet_except_those_with_one_form_of_output() -> None:
    for name, command in cli.program.commands("runyard"):
        flags = {flag for parameter in command.parameters for flag in parameter.flags}
        assert {"--json", "--quiet"} - flags == WITHOUT.get(name, set()), name
