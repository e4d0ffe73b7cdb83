"""Print several runs at once: whole lines, each with its time, the end of the run's id and the agent."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runyard.cli.terminal.output import echo, style
from runyard.cli.terminal.run_printer import RunPrinter
from runyard.cli.terminal.text import one_line, plain
from runyard.cli.terminal.wrapping import filled

if TYPE_CHECKING:
    from runyard.client import LogEvent
    from runyard.client.wire import RunInfo

ID = 8  # characters of an id: enough for every command that takes one
LONGEST = 200  # characters of text without an end of line that are kept


class LinePrinter(RunPrinter):
    """Prints one run among others, on stdout. `quiet`: its beginning and its end only."""

    def __init__(self, run: "RunInfo", *, quiet: bool = False) -> None:
        super().__init__()
        self._only_ends = quiet
        self._name = f"{run.run_id[-ID:]} {plain(run.agent or '-')}"
        self._at = ""
        self._text = self._aside_text = ""

    def begin(self, run: "RunInfo") -> None:
        """Print the line that a run begins with."""
        self._at = _clock(datetime.fromisoformat(run.created_at))
        self._line(f"▶ {one_line(run.question or 'queued', 200)}", bold=True)

    def take(self, event: "LogEvent") -> None:
        self._at = _clock(datetime.fromtimestamp(event.ts / 1000, UTC))
        super().take(event)

    def _write(self, text: str) -> None:
        self._text = self._lines_of(self._text + plain(text), dim=False)

    def _aside(self, text: str) -> None:
        self._aside_text = self._lines_of(self._aside_text + plain(text), dim=True)

    def _lines_of(self, text: str, *, dim: bool) -> str:
        """Print the lines that are complete, or long, and return the rest."""
        *lines, rest = text.split("\n")
        while len(rest) > LONGEST:
            end = rest.rfind(" ", 1, LONGEST)
            cut = end if end > 0 else LONGEST
            lines.append(rest[:cut])
            rest = rest[cut:].lstrip(" ")
        for line in filter(str.strip, lines):
            self._line(line, dim=dim)
        return rest

    def _end_line(self) -> None:
        text, self._text = self._text, ""
        aside, self._aside_text = self._aside_text, ""
        for rest, dim in ((aside, True), (text, False)):
            if rest.strip():
                self._line(rest, dim=dim)

    def _note(self, text: str, colour: str | None = None) -> None:
        self._end_line()
        self._line(text, dim=colour is None, colour=colour)

    def _line(self, text: str, *, dim: bool = False, bold: bool = False, colour: str | None = None) -> None:
        if self._only_ends and not bold and colour is None:
            return
        start = f"{self._at} {self._name}  "
        shown = filled(start + text, sys.stdout)[len(start) :]
        echo(style(start, dim=True) + style(shown, fg=colour, dim=dim, bold=bold))


def _clock(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M:%S}"
