"""Redaction: replace sensitive text by the name of its pattern before it is stored, like `write to [email]`.

Streamed text is redacted piece by piece. Text that may still become a match is held back until that is known, at most
`MOST` characters. The output does not depend on how the text is cut into pieces. To find undecided text, every pattern
is also searched with a character after it that occurs in no text: it never matches, but every match that reaches the
end of the text shows up as a partial match.

An operator's own patterns may be slow. Each search has a time limit, and text that exceeds it is replaced as a whole.
Existing marks stay, so redacting twice changes nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import regex  # type: ignore[import-untyped]
from msgspec import Struct

from runyard.base.ids import is_id
from runyard.domain.redaction.sensitive import CHECKS, LIVELY, PATTERNS

MOST = 4096  # longest match, and most characters held back
CONTEXT = 64  # characters of finished text that patterns may look back at
SECONDS = 0.5  # for one search of an own pattern
PROBE = 500  # length of the texts that a new pattern must search within half of that
TIMED_OUT = "[redaction timed out]"
_NOWHERE = "\ufdd0"  # `events.clean` removes it from all text
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_AHEAD = re.compile(r"\(\?[=!]|\$|\\Z|\\z")
_LITERAL = re.compile(r"\\[^Zz]|\[\^?\]?(?:\\.|[^\]\\])*\]")
_MARK = ""
T = TypeVar("T")


class Finder(Struct, frozen=True):
    """One pattern. Text without a `lively` character has no match, and a partial match in it has no space. A match may
    start up to `reach` characters before such a character."""

    name: str
    find: Any
    undecided: Any
    lively: Any
    reach: int = 0
    timeout: float | None = None

    def first(self, text: str, start: int) -> Any:
        sign = self.lively.search(text, start)
        if sign is None:
            return None
        return self.find.search(text, max(start, sign.start() - self.reach), timeout=self.timeout)

    def edge(self, text: str, start: int) -> int:
        """Return the position from which more text could create or change a match."""
        if self.lively.search(text, start) is None:
            return _last_word(text, start)
        found = self.undecided.search(text, start, partial=True, timeout=self.timeout)
        return len(text) if found is None else int(found.start())


class Found(Struct, frozen=True):
    start: int
    end: int
    name: str


class Redactor:
    """Replace sensitive text. The constructor raises ValueError for an unknown name or an unusable pattern."""

    is_on = True  # `no_redaction.NO_REDACTION` is the redactor that is off

    def __init__(self, names: Sequence[str], own: Mapping[str, str] | None = None) -> None:
        own = own or {}
        for name in names:
            if name not in PATTERNS:
                raise ValueError(f"has the unknown name {name!r}; choose from {', '.join(sorted(PATTERNS))}")
        for name in own:
            if not _NAME.fullmatch(name) or name in PATTERNS:
                raise ValueError(
                    f"has a pattern with the name {name!r}; choose a new name of lower-case letters, digits and _"
                )
        marks = "|".join(re.escape(mark) for mark in [TIMED_OUT, *(f"[{name}]" for name in [*names, *own])])
        ours = [name for name in PATTERNS if name in names]
        self._finders = [_finder(_MARK, marks, r"\["), *(_finder(name, PATTERNS[name], *LIVELY[name]) for name in ours)]
        self._finders += [_own(name, pattern) for name, pattern in own.items()]
        self._lively = re.compile("|".join(finder.lively.pattern for finder in self._finders))

    def stream(self) -> "Stream":
        return Stream(self._finders, self._lively)

    def text(self, text: str) -> str:
        if self._lively.search(text) is None:
            return text
        try:
            return self.stream().whole(text)
        except TimeoutError:
            return TIMED_OUT

    def value(self, value: T) -> T:
        """Redact every text in a JSON value, including keys of objects. Equal keys get numbers."""
        return self._value(value)  # type: ignore[no-any-return]

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                return [self._value(item) for item in value]
            case Mapping():
                made: dict[Any, Any] = {}
                for key, item in value.items():
                    made[self._key(key, made)] = self._value(item)
                if value.get("type") in ("file", "image") and is_id(str(value.get("file_id"))):
                    made["file_id"] = value["file_id"]  # a reference, not content
                return made
            case _:
                return value

    def _key(self, key: Any, taken: Mapping[Any, Any]) -> Any:
        name = self.text(key) if isinstance(key, str) else key
        number = 1
        while name in taken:
            number += 1
            name = f"{self.text(key)} {number}"
        return name

    def json(self, text: str) -> str:
        """Redact a text. JSON stays valid JSON."""
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return self.text(text)
        redacted = self._value(value)
        return text if redacted == value else msgspec.json.encode(redacted).decode()


def _finder(name: str, pattern: str, lively: str, reach: int = 0, timeout: float | None = None) -> Finder:
    find, undecided = regex.compile(pattern), regex.compile(f"(?:{pattern}){_NOWHERE}")
    return Finder(name, find, undecided, re.compile(lively), reach, timeout)


def _own(name: str, pattern: str) -> Finder:
    if _AHEAD.search(_LITERAL.sub("", pattern)):
        raise ValueError(
            f"has a pattern {name!r} with a look-ahead ((?=, (?!, $ or \\Z), which cannot work on a stream; use \\b"
        )
    try:
        finder = _finder(name, pattern, "", timeout=SECONDS)
    except regex.error as error:
        raise ValueError(f"has an invalid pattern {name!r}: {error.msg}") from None
    if finder.find.search("") is not None:
        raise ValueError(f"has a pattern {name!r} that matches empty text; make it match at least one character")
    try:
        for probe in _probes(pattern):
            finder.find.search(probe, timeout=SECONDS / 2)
            finder.undecided.search(probe, partial=True, timeout=SECONDS / 2)
    except TimeoutError:
        raise ValueError(f"has a pattern {name!r} that is too slow; limit its repetitions") from None
    return finder


def _probes(pattern: str) -> list[str]:
    """Return texts on which a pattern with exponential backtracking is slow."""
    units = [*sorted(set(filter(str.isalnum, pattern)))[:30], "a", "0", " ", "aA0 ", "a.b@", "-_"]
    return [unit * (PROBE // len(unit)) + end for unit in units for end in ("", "!")]


class Stream:
    """Redacts text that arrives in pieces. Text that may belong to an unfinished match is held back."""

    def __init__(self, finders: Sequence[Finder], lively: re.Pattern[str]) -> None:
        self._finders = finders
        self._lively = lively
        self._text = ""
        self._at = 0
        self._edges = [0] * len(finders)  # per finder: the position before which nothing is undecided

    def feed(self, piece: str) -> str:
        """Add a piece, and return the redacted text that is decided now."""
        self._text += piece
        return self._take(whole=False)

    def close(self) -> str:
        """Return the redacted rest. The next piece starts a new text."""
        rest = self._take(whole=True) if self._at < len(self._text) else ""
        self._text, self._at = "", 0
        self._edges = [0] * len(self._finders)
        return rest

    def whole(self, text: str) -> str:
        self._text = text
        return self._decided(len(text))

    def _take(self, whole: bool) -> str:
        try:
            if self._lively.search(self._text, self._at) is None:
                edge = len(self._text) if whole else _last_word(self._text, self._at)
                out, self._at = self._text[self._at : edge], edge
            else:
                out = self._decided(len(self._text) if whole else self._edge())
        except TimeoutError:
            self._at = len(self._text)
            return TIMED_OUT
        if self._at > 2 * CONTEXT:
            gone = self._at - CONTEXT
            self._text, self._at = self._text[gone:], CONTEXT
            self._edges = [edge - gone for edge in self._edges]
        return out

    def _edge(self) -> int:
        """Return the first position from which more text could create or change a match."""
        start = max(self._at, len(self._text) - MOST)
        self._edges = [
            finder.edge(self._text, max(start, edge)) for finder, edge in zip(self._finders, self._edges, strict=True)
        ]
        return min(self._edges)

    def _decided(self, edge: int) -> str:
        """Return the redacted text up to `edge`."""
        if edge == self._at:
            return ""
        out: list[str] = []
        end = len(self._text)
        ahead = [self._next(finder, self._at) for finder in self._finders]
        while (first := min((found for found in ahead if found), key=_start, default=None)) and first.start < edge:
            out += self._text[self._at : first.start], self._mark(first)
            self._at = first.end
            if first.end > edge:
                edge = end if edge == end else max(first.end, self._edge())
            ahead = [
                self._next(finder, self._at) if found and found.start < self._at else found
                for finder, found in zip(self._finders, ahead, strict=True)
            ]
        out.append(self._text[self._at : edge])
        self._at = max(self._at, edge)
        return "".join(out)

    def _next(self, finder: Finder, start: int) -> Found | None:
        """Return the first valid match from `start`."""
        while (match := finder.first(self._text, start)) is not None:
            begin, end = match.span()
            check = CHECKS.get(finder.name)
            length = end - begin if check is None else check(match[0])
            if 0 < length <= MOST:
                return Found(begin, begin + length, finder.name)
            start = begin + 1
        return None

    def _mark(self, found: Found) -> str:
        return self._text[found.start : found.end] if found.name == _MARK else f"[{found.name}]"


def _start(found: Found) -> int:
    return found.start


def _last_word(text: str, start: int) -> int:
    return max(start, text.rfind(" ") + 1, text.rfind("\n") + 1)
