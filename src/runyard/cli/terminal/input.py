"""Lines that a person types into the terminal."""

import sys
from contextlib import suppress
from typing import Any

from runyard.cli.terminal.output import echo


def read_line(prompt: str, given: str = "") -> str | None:
    """Read a line that starts as `given`; None at the end of the input. Ctrl-C starts the line again."""
    is_terminal = sys.stdin.isatty()
    readline: Any = None
    if is_terminal:
        with suppress(ImportError):
            import readline
    if readline is not None:
        readline.set_startup_hook(lambda: readline.insert_text(given))
    try:
        while True:
            try:
                return input(prompt if is_terminal else "")
            except KeyboardInterrupt:
                echo()
    except EOFError:
        return None
    finally:
        if readline is not None:
            readline.set_startup_hook()
