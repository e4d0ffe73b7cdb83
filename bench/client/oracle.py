"""Checks the bytes of a stream: every token once and in order, ids rising, one end and nothing after it. Any other
stream is `Wrong`, and the benchmark then has no result. It runs after the measurement, so its cost does not matter."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bench.client.wire import Piece

TOKEN = re.compile(rb'"t(\d+) (?:([a-j]+) )?"')
TOKEN_OF_LINE = re.compile(rb"\bt(\d+)(?: ([a-j]+)\b)?")  # where a frame has the text of several tokens
DIGITS = bytes.maketrans(b"abcdefghij", b"0123456789")
FRAME_END = re.compile(rb"\r?\n\r?\n")


class Wrong(Exception):
    """A stream is not correct."""


class Verdict(Struct, frozen=True):
    """When the first token came (else the first event). Of each token that carries its time: when it was sent, and how
    long it was on the way. Nanoseconds."""

    first: int
    sent: Sequence[int]
    delays: Sequence[int]


def judge(pieces: Sequence[Piece], tokens: int, end: bytes | None = b"state") -> Verdict:
    """`end` is the event that comes last, in a dialect that has one."""
    first, expected, ended = 0, 0, False
    last_id: tuple[int, ...] = (0,)
    sent: list[int] = []
    delays: list[int] = []
    for at, frame in frames(pieces):
        if ended:
            raise Wrong("something came after the end")
        first = first or (0 if tokens else at)
        position = _position(frame[b"id"]) if b"id" in frame else (last_id[0] + 1,)
        if position <= last_id:
            raise Wrong(f"id {_text(position)} came after {_text(last_id)}")
        last_id = position
        ended = end is not None and frame.get(b"event") == end
        token = TOKEN.search(frame.get(b"data", b"")) if frame.get(b"event") != b"final" else None
        if token:
            first = first or at
            if int(token[1]) != expected:
                raise Wrong(f"token {int(token[1])} came where {expected} was due")
            expected += 1
            if token[2]:
                sent.append(_time(token[2]))
                delays.append(at - sent[-1])
    if not ended and end is not None:
        raise Wrong("the stream has no end")
    if expected != tokens:
        raise Wrong(f"{expected} tokens came, not {tokens}")
    return Verdict(first, sent, delays)


def judge_lines(pieces: Sequence[Piece], tokens: int) -> Verdict:
    """Judge a stream whose frames have lines of several tokens. The last frame has all of them again."""
    came = [(at, TOKEN_OF_LINE.findall(frame.get(b"data", b""))) for at, frame in frames(pieces)]
    if not came:
        raise Wrong("nothing came")
    *lines, (end, whole) = came
    if [int(number) for number, _ in whole] != list(range(tokens)):
        raise Wrong(f"{len(whole)} tokens came, not {tokens}, or in another order")
    shown = [(at, token) for at, line in lines for token in line]
    if [token for _, token in shown] != whole[: len(shown)]:
        raise Wrong("the lines are not the beginning of the whole")
    shown += [(end, token) for token in whole[len(shown) :]]
    times = [(at, _time(letters)) for at, (_, letters) in shown if letters]
    return Verdict(came[0][0], [sent for _, sent in times], [at - sent for at, sent in times])


def _time(letters: bytes) -> int:
    return int(letters.translate(DIGITS))


def _position(given: bytes) -> tuple[int, ...]:
    """Return an id as numbers: a seq, in some dialects followed by a number within the event."""
    return tuple(map(int, given.split(b"-")))


def _text(position: tuple[int, ...]) -> str:
    return "-".join(map(str, position))


def frames(pieces: Sequence[Piece]) -> Iterator[tuple[int, dict[bytes, bytes]]]:
    """The fields of each frame, with the time at which its last byte came. Comments are left out."""
    chunks, rest = Chunks(), b""
    for at, data in pieces:
        *whole, rest = FRAME_END.split(rest + chunks.feed(data))
        for frame in whole:
            fields = dict(_field(line) for line in frame.splitlines() if not line.startswith(b":"))
            if fields:
                yield at, fields
    if rest or not chunks.ended:
        raise Wrong("the stream was cut off")


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon:
        raise Wrong(f"not a field: {line[:40]!r}")
    return name, value.removeprefix(b" ")


class Chunks:
    """Decodes HTTP's chunked coding, however the network splits it."""

    def __init__(self) -> None:
        self._left = 0  # of the chunk's data and the line end after it
        self._line = b""
        self.ended = False

    def feed(self, data: bytes) -> bytes:
        body = []
        while data:
            if self.ended:
                raise Wrong("bytes came after the last chunk")
            if self._left == 0:
                line, end, rest = (self._line + data).partition(b"\r\n")
                self._line = b"" if end else line
                data = rest
                if end:
                    size = _size(line)
                    self._left = size + 2
                    self._is_last = size == 0
                continue
            taken, data = data[: self._left], data[self._left :]
            self._left -= len(taken)
            body.append(taken[: len(taken) + min(0, self._left - 2)])
            self.ended = self._is_last and self._left == 0
        return b"".join(body)


def _size(line: bytes) -> int:
    try:
        return int(line, 16)
    except ValueError:
        raise Wrong(f"not the size of a chunk: {line[:40]!r}") from None
