"""Text that is broken between words where the terminal ends, also while it still arrives."""

from shutil import get_terminal_size
from typing import TextIO

from runyard.cli.terminal.text_table import broken, text_width

LONG_WORD = 20  # columns before the end of a line where a word is held back until it is complete
FENCE = "```"


class WordWrapper:
    """Breaks text that arrives in pieces. `feed` returns what can be shown now; near the end of a line it holds a word
    back until the word is complete. Lines between fences of code are not broken."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._word = ""  # what is held back
        self._has_begun = False  # the beginning of this word is shown already
        self._line = ""  # the beginning of the line that the text itself has
        self._is_code = False

    def feed(self, text: str) -> str:
        shown: list[str] = []
        for letter in text:
            if letter in " \n":
                shown.append(self._placed())
                shown.append(self._space() if letter == " " else self._new_line())
                self._has_begun = False
                continue
            self._word += letter
            if len(self._line) < len(FENCE):
                self._line += letter
        if self._word and self._column + text_width(self._word) < self._width - LONG_WORD:
            shown.append(self._placed())
            self._has_begun = True
        return "".join(shown)

    def flush(self) -> str:
        """Return what was held back. The next text begins a new line."""
        shown = self._placed()
        self._column, self._line, self._is_code, self._has_begun = 0, "", False, False
        return shown

    def _placed(self) -> str:
        word, self._word = self._word, ""
        size = text_width(word)
        fits = self._column + size <= self._width
        breaks = bool(self._column) and not fits and not self._is_code and not self._has_begun
        self._column = size if breaks else self._column + size
        return f"\n{word}" if breaks else word

    def _space(self) -> str:
        if self._column >= self._width and not self._is_code:
            return ""  # the next word begins a new line
        self._column += 1
        return " "

    def _new_line(self) -> str:
        if self._line == FENCE:
            self._is_code = not self._is_code
        self._column, self._line = 0, ""
        return "\n"


def wrapper_for(stream: TextIO) -> WordWrapper | None:
    """Return a wrapper for a terminal, None for a file or a pipe."""
    return WordWrapper(get_terminal_size().columns) if stream.isatty() else None


def filled(text: str, stream: TextIO, indent: str = "  ") -> str:
    """Return text broken between words, if it is shown in a terminal. Ids are not broken. `indent`: of continued
    lines."""
    if not stream.isatty():
        return text
    width, lines = get_terminal_size().columns, text.expandtabs(4).split("\n")
    parts = (part for line in lines for part in broken(line, width, indent, cuts_words=False))
    return "\n".join(parts)
