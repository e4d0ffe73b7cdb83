"""Ask a person in the terminal for the answer to a question or a client tool."""

from collections.abc import Mapping
from typing import Any

from runyard.cli.terminal.forms import Form
from runyard.cli.terminal.input import read_line
from runyard.cli.terminal.output import echo, secho
from runyard.cli.terminal.text import one_line, plain, revealed


def ask_for_value(asked: Mapping[str, Any]) -> Any:
    """Show what is asked (the data of `wait.requested`), and return the answer once it fits the schema.

    Raises FormEnded at the end of the input."""
    kind, name, input = asked["kind"], asked["name"], asked.get("input")
    if kind == "client_tool":
        secho(f"? The agent calls your tool {revealed(name)}", err=True, fg="magenta")
        for part, value in input.items() if isinstance(input, dict) else ():
            echo(f"  {revealed(part)}: {one_line(value, 500, revealed)}", err=True)
    else:
        secho(f"? {plain(asked.get('prompt') or name)}", err=True, fg="magenta")
    return Form(asked.get("schema"), read_line, lambda line: echo(line, err=True)).fill()
