"""Lines that a person types into the terminal."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from runyard.cli.terminal.output import echo

CONTINUED = "\\"  # at the end of a line: the message continues


def read_line(prompt: str, given: str = "", *, remember: bool = False, restarts: bool = True) -> str | None:
    """Read a line that starts as `given`; None at the end of the input. `remember`: the up arrow offers the line again.
    Ctrl-C starts the line again; without `restarts` it raises KeyboardInterrupt. The prompt is on stderr if stdout is
    not a terminal."""
    is_terminal, readline = sys.stdin.isatty(), _readline()
    if readline is not None:
        readline.set_startup_hook(lambda: readline.insert_text(given))
    try:
        while True:
            try:
                if is_terminal and not sys.stdout.isatty():
                    echo(prompt, err=True, nl=False)
                line = input(prompt if is_terminal and sys.stdout.isatty() else "")
            except KeyboardInterrupt:
                echo(err=True)
                if not restarts:
                    raise
            else:
                if remember and readline is not None and line.strip():
                    readline.add_history(line)
                return line
    except EOFError:
        return None
    finally:
        if readline is not None:
            readline.set_startup_hook()


def read_message(prompt: str) -> str | None:
    """Read a message; None at the end of the input. A line that ends with a backslash is continued on the next one."""
    lines: list[str] = []
    while True:
        line = read_line("… " if lines else prompt, remember=True)
        if line is None:
            return "\n".join(lines) if lines else None
        if not line.endswith(CONTINUED):
            return "\n".join([*lines, line])
        lines.append(line.removesuffix(CONTINUED))


def offer_history(lines: Iterable[str]) -> None:
    """Let the up arrow offer these lines, the last one first."""
    if (readline := _readline()) is not None:
        for line in lines:
            readline.add_history(line)


def _readline() -> Any:
    """Return the module `readline` in a terminal that has it. It remembers only lines that are added explicitly."""
    if not sys.stdin.isatty():
        return None
    with suppress(ImportError):
        import readline

        readline.set_auto_history(False)
        return readline
    return None
