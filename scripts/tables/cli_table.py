"""docs/cli.md: every verb of `runyard` with its arguments and options, from the commands themselves."""

from __future__ import annotations

from runyard.cli import program
from runyard.cli.parsing.commands import Command, Parameter
from scripts.tables.page import Page

_HEADER = """# The command line

Made by `make docs` from `src/runyard/cli/`; do not edit.

`runyard VERB --help` says the same. A verb takes its settings from the environment or `runyard.toml`
([settings.md](settings.md)); its own options win. A failure is one sentence on stderr: exit code 2 when Runyard cannot
start, 1 for everything else.

Every verb takes `--json` and `--quiet`, except those whose output has one form: `mcp`, `completion`, `runs export` (no
`--json`) and `keys make-encryption` (no `--quiet`). Instead of an id, 8 or more characters of its beginning or end are
enough, if only one id of that kind has them. In a terminal, rows that are too wide continue on a second line, and no id
is cut. Colours are for terminals only; `NO_COLOR` turns them off. `runyard --install-completion` completes commands,
options, ids and agents in bash, zsh and fish.

| verb | what it does | arguments and options |
|---|---|---|"""


def render() -> str:
    """The whole of docs/cli.md."""
    rows = [_row(name, command) for name, command in program.commands("runyard")]
    return "\n".join([_HEADER, *rows]) + "\n"


def _row(name: str, command: Command) -> str:
    said = command.help.split("\n\n")[0].replace("\n", " ")
    return f"| `{name}` | {said} | {'<br>'.join(map(_parameter, command.parameters))} |"


def _parameter(parameter: Parameter) -> str:
    return f"`{parameter.label}` {parameter.help}"


PAGE = Page("cli.md", lambda _: render())
