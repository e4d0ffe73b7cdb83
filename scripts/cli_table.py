"""docs/cli.md: every verb of `runyard` with its arguments and options, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from runyard.cli import program
from scripts.page import Page

_HEADER = """# The command line

Made by `make docs` from `src/runyard/cli/`; do not edit.

`runyard VERB --help` says the same. A verb takes its settings from the environment or `runyard.toml`
([settings.md](settings.md)); its own options win. A failure is one sentence on stderr: exit code 2 when Runyard cannot
start, 1 for everything else.

| verb | what it does | arguments and options |
|---|---|---|"""


def render() -> str:
    """The whole of docs/cli.md."""
    rows = [_row(name, command) for name, command in verbs(typer.main.get_command(program))]
    return "\n".join([_HEADER, *rows]) + "\n"


def verbs(command: Any, name: str = "runyard") -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its whole name."""
    for part, inner in getattr(command, "commands", {}).items():
        yield from verbs(inner, f"{name} {part}")
    if not hasattr(command, "commands"):
        yield name, command


def _row(name: str, command: Any) -> str:
    said = (command.help or "").split("\n\n")[0].replace("\n", " ").strip()
    parameters = [_parameter(parameter) for parameter in command.params if parameter.name != "help"]
    return f"| `{name}` | {said} | {'<br>'.join(parameters)} |"


def _parameter(parameter: Any) -> str:
    shown = parameter.opts[0] if parameter.param_type_name == "option" else parameter.name.upper()
    return f"`{shown}` {parameter.help}"


PAGE = Page("cli.md", lambda _: render())
