"""Ask a person once more before a call may happen twice."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from runyard.cli.terminal.input import read_line
from runyard.cli.terminal.output import echo, secho
from runyard.cli.terminal.text import revealed

UNKNOWN_OUTCOME = "unknown_outcome"  # the kind of an approval: a worker died while it called the tool


def confirms_repetition(tool: str) -> bool:
    """Return whether the person types `yes`: one letter, pressed twice by mistake, is not enough.
    Ctrl-C means no."""
    secho(
        f"  If the first call of {revealed(tool)} took effect, it happens twice. This cannot be undone.",
        err=True,
        fg="yellow",
    )
    try:
        with _interrupts_at_once():
            line = read_line("  Type yes to call it again: ", restarts=False)
    except KeyboardInterrupt:
        return False
    if line is None:  # the person pressed Ctrl-D
        echo(err=True)
    return (line or "").strip().lower() == "yes"


@contextmanager
def _interrupts_at_once() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt. asyncio cancels its task instead, which would not end a line that is read."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
