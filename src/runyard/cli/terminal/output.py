"""Print on the terminal, with colours where the terminal shows them."""

import os
import re
import sys
from typing import TextIO

COLOURS = {"red": 31, "green": 32, "yellow": 33, "magenta": 35, "cyan": 36}
_STYLE = re.compile("\x1b\\[[0-9;]*m")


def style(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """Return text with codes for its colour. `echo` removes them where the terminal shows no colours."""
    codes = [code for code, wanted in ((COLOURS.get(fg or ""), fg), (1, bold), (2, dim)) if wanted]
    return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m" if codes and text else text


def unstyled(text: str) -> str:
    """Return text without the codes that `style` adds."""
    return _STYLE.sub("", text)


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Write a line to stdout or stderr, at once. `nl=False`: without its end."""
    stream = sys.stderr if err else sys.stdout
    stream.write((text if shows_colours(stream) else unstyled(text)) + ("\n" if nl else ""))
    stream.flush()


def secho(
    text: str, *, err: bool = False, nl: bool = True, fg: str | None = None, bold: bool = False, dim: bool = False
) -> None:
    """Write a line in one style."""
    echo(style(text, fg=fg, bold=bold, dim=dim), err=err, nl=nl)


def shows_colours(stream: TextIO) -> bool:
    return understands_codes(stream) and not os.environ.get("NO_COLOR")


def understands_codes(stream: TextIO) -> bool:
    """Return whether this is a terminal that can be cleared, also one that shows no colours."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"
