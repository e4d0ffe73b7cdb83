"""Parses server-sent events from chunks of bytes, for clients. `web/streaming/sse.py` writes them.

Follows the WHATWG rules: LF, CR and CRLF end lines, also mixed and split between two chunks; a leading BOM is dropped;
data lines are joined by LF; comments and unknown fields are ignored; an id lasts until the next one; a frame that no
empty line has finished is not delivered. Text is decoded line by line, so a character may be split anywhere.
"""

from msgspec import Struct

_BOM = b"\xef\xbb\xbf"


class Frame(Struct, frozen=True):
    """One event of a stream. `id` is the last id of the stream, from this frame or an earlier one."""

    data: str
    event: str = "message"
    id: str = ""


class Parser:
    """An incremental parser: `feed` takes bytes and returns the complete frames."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._at_start = True
        self._after_cr = False
        self._data: list[str] = []
        self._event = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[Frame]:
        if not chunk:
            return []
        # the LF of a CRLF whose CR ended the last chunk
        if self._after_cr and chunk[0] == 10:
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        self._rest += chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        lines = bytes(self._rest).splitlines(keepends=True)
        self._rest.clear()
        if not lines[-1].endswith((b"\n", b"\r")):
            self._rest += lines.pop()
        return [frame for line in lines if (frame := self._take(line.rstrip(b"\r\n"))) is not None]

    def _take(self, line: bytes) -> Frame | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._event = value
        elif field == "id" and "\0" not in value:
            self._id = value
        return None

    def _dispatch(self) -> Frame | None:
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return Frame("\n".join(data), event or "message", self._id) if data else None
