"""A table for a terminal: aligned columns without borders.

A cell may be styled (`output.style`). Columns are as wide as their widest cell and never cut. Columns that wrap become
narrower if the terminal is too small. If that is not enough, rows fold: the columns that do not fit continue on a
second, indented line, under each other. In a terminal that is narrower than one column, lines are longer than it is
wide.
"""

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size

from runyard.cli.terminal.output import echo, style, unstyled

GAP = "  "
INDENT = "  "  # of the lines that a folded row continues on
NARROWEST = 20
NO_TERMINAL = 200  # columns of a file or a pipe


class TextTable:
    """`wraps`: the columns that may wrap, to no less than `narrowest`. Without `header`, the first column is dim and
    rows do not fold."""

    def __init__(
        self, *columns: str, wraps: Sequence[int] = (), narrowest: int = NARROWEST, header: bool = True
    ) -> None:
        self._rows: list[Sequence[str]] = []
        self._columns = columns
        self._wraps = frozenset(wraps)
        self._narrowest = narrowest
        self._header = header

    def add_row(self, *cells: str) -> None:
        first = cells[0] if self._header else style(cells[0], dim=True)
        self._rows.append([first, *(cell.expandtabs(4) for cell in cells[1:])])

    def echo(self, if_empty: str = "") -> int:
        """Print the table, or a sentence if it has no rows. Return the number of lines."""
        lines = self.lines(get_terminal_size().columns if sys.stdout.isatty() else NO_TERMINAL) if self._rows else []
        if not lines and if_empty:
            lines = [style(if_empty, dim=True)]
        echo("\n".join(lines))
        return len(lines)

    def lines(self, width: int) -> list[str]:
        head = [[style(column, dim=True) for column in self._columns]] if self._header else []
        rows = [*head, *self._rows]
        widths = [max(text_width(cell) for cell in column) for column in zip(*rows, strict=True)]
        groups = self._groups(widths, width)
        for number, group in enumerate(groups):
            self._narrow(widths, group, width - (len(INDENT) if number else 0))
        return [line for row in rows for line in _folded(row, groups, widths)]

    def _groups(self, widths: Sequence[int], width: int) -> list[list[int]]:
        """Return the columns of each line of a row: one line if all columns fit."""
        groups: list[list[int]] = [[]]
        taken = 0
        for place, natural in enumerate(widths):
            least = min(natural, self._narrowest) if place in self._wraps else natural
            if self._header and groups[-1] and taken + len(GAP) + least > width:
                groups.append([])
                taken = len(INDENT)
            taken += least + (len(GAP) if groups[-1] else 0)
            groups[-1].append(place)
        return groups

    def _narrow(self, widths: list[int], group: Sequence[int], width: int) -> None:
        """Make the widest wrapping columns of a line narrower until it fits."""
        too_much = sum(widths[place] for place in group) + len(GAP) * (len(group) - 1) - width
        for _ in range(too_much):
            wide = [place for place in group if place in self._wraps and widths[place] > self._narrowest]
            if not wide:
                return
            widths[max(wide, key=widths.__getitem__)] -= 1


def _folded(row: Sequence[str], groups: Sequence[Sequence[int]], widths: Sequence[int]) -> Iterator[str]:
    for number, group in enumerate(groups):
        cells = [row[place] for place in group]
        if number and not any(unstyled(cell).strip() for cell in cells):
            continue
        for line in _lines(cells, [widths[place] for place in group]):
            yield (INDENT if number else "") + line


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines of one row: a cell may have several."""
    cells = [list(_wrapped(cell, width)) for cell, width in zip(row, widths, strict=True)]
    for place in range(max(map(len, cells))):
        parts = [cell[place] if place < len(cell) else "" for cell in cells]
        yield GAP.join(_padded(part, width) for part, width in zip(parts, widths, strict=True)).rstrip()


def _wrapped(cell: str, width: int) -> Iterator[str]:
    """Yield the lines of a cell. The continuation of an indented line is indented, too."""
    for line in cell.split("\n"):
        if text_width(line) <= width:
            yield line
        else:
            plain = unstyled(line)
            indent = " " * min(len(plain) - len(plain.lstrip(" ")), width // 2)
            yield from broken(plain, width, indent)


def broken(line: str, width: int, indent: str = "", *, cuts_words: bool = True) -> Iterator[str]:
    """Yield a line in parts that are no wider than this, broken between words where possible. All parts but the first
    begin with `indent`. Without `cuts_words`, a word that is too long stays whole, unless its letters are not ASCII:
    Japanese has no spaces."""
    text = line.lstrip(" ")
    part, is_empty = " " * (len(line) - len(text)), True
    for word in text.split(" "):
        joined = f"{part}{word}" if is_empty else f"{part} {word}"
        if text_width(joined) <= width:
            part, is_empty = joined, False
            continue
        if not is_empty:
            yield part.rstrip(" ")
            part = indent
        can_cut = cuts_words or not word.isascii()
        *full, rest = _pieces(word, width - len(part), width - len(indent)) if can_cut else [word]
        for piece in full:
            yield part + piece
            part = indent
        part, is_empty = part + rest, False
    yield part.rstrip(" ")


def _pieces(word: str, first: int, width: int) -> list[str]:
    """Cut a word into pieces that fit: the first one into `first` columns, the others into `width`."""
    pieces, length = [""], 0
    for letter in word:
        size = letter_width(letter)
        if length + size > (first if len(pieces) == 1 else width) and pieces[-1]:
            pieces.append("")
            length = 0
        pieces[-1] += letter
        length += size
    return pieces


def _padded(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def text_width(text: str) -> int:
    """Return how many columns of a terminal the longest line of a text takes."""
    return max(len(line) if line.isascii() else sum(map(letter_width, line)) for line in unstyled(text).split("\n"))


def letter_width(letter: str) -> int:
    """Return how many columns of a terminal a letter takes."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
