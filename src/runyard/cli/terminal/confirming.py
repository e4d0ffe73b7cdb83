"""Ask a person once more before a call may happen twice."""

from runyard.cli.terminal.input import read_line
from runyard.cli.terminal.output import secho
from runyard.cli.terminal.text import plain

UNKNOWN_OUTCOME = "unknown_outcome"  # the kind of an approval: a worker died while it called the tool


def confirms_repetition(tool: str) -> bool:
    """Return whether the person types `yes`: one letter, pressed twice by mistake, is not enough."""
    secho(
        f"  If the first call of {plain(tool)} took effect, it happens twice. This cannot be undone.",
        err=True,
        fg="yellow",
    )
    return (read_line("  Type yes to call it again: ") or "").strip().lower() == "yes"
