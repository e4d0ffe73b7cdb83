"""Encodes the events of one part of a run. Consecutive pieces of a text take a short way.

Most events of a run add one piece to an open text. In every face, the frames of these pieces differ only in the piece
and perhaps in a number. So a face encodes one such frame as it encodes all others, with marks in these places
(`TextFrames`), and the frames of all other pieces are made by filling in the marks. The bytes are the same either way:
`tests/faces/every/test_text_frames.py` compares both ways over random logs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from secrets import randbits, token_hex
from typing import Literal

import msgspec

from runyard.domain.events import Event, ModelToken

TextEvent = Literal["model.token", "model.thinking"]
TEXT_EVENTS: Mapping[str, TextEvent] = {"model.token": "model.token", "model.thinking": "model.thinking"}

# The marks of this process. They are random, so no name in a frame can be equal to one.
TEXT = token_hex(16)
NUMBER = (1 << 62) + randbits(60)

_encode = msgspec.json.Encoder().encode
_texts = msgspec.json.Decoder(list[ModelToken])  # the payload of model.thinking has the same field
_TEXT, _NUMBER = _encode(TEXT), _encode(NUMBER)
_type = attrgetter("type")


class TextFrames:
    """The frames of pieces of one text. `example` is such a frame, with `TEXT` for the piece and, in faces that number
    frames, with `NUMBER` for the number."""

    def __init__(self, example: bytes) -> None:
        self._is_numbered = _NUMBER in example
        if self._is_numbered:
            self._template = example.replace(b"%", b"%%").replace(_NUMBER, b"%d").replace(_TEXT, b"%b")
        else:
            self._before, self._after = example.split(_TEXT)

    def of(self, pieces: Sequence[str], first: int = 0) -> bytes:
        """Return the frames of these pieces. They are numbered from `first`."""
        if self._is_numbered:
            template = self._template
            return b"".join([template % (n, _encode(piece)) for n, piece in enumerate(pieces, first)])
        between = self._after + self._before
        return b"%b%b%b" % (self._before, between.join(map(_encode, pieces)), self._after)


class PartEncoder(ABC):
    """Makes the bytes of one part, for protocols in which an answer ends before its run does. `is_over`: it has made
    the last ones."""

    is_over = False
    _open: tuple[Hashable, TextFrames] | None = None

    @abstractmethod
    def take(self, event: Event) -> bytes:
        """Return the bytes of one event."""

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        """Return the bytes of consecutive events `texts`, if all that they do is to add these pieces to the open text;
        None if they may do more. No piece is empty. Must do what `take` does."""
        return None

    def frames_of(self, text: Hashable, example: Callable[[], bytes]) -> TextFrames:
        """Return the frames of the open text. `text` identifies it among the texts of the run."""
        if self._open is None or self._open[0] != text:
            self._open = text, TextFrames(example())
        return self._open[1]

    def take_all(self, events: Sequence[Event]) -> bytes:
        """Return the bytes of consecutive events up to the end of the part."""
        made: list[bytes] = []
        for event_type, group in groupby(events, _type):
            same = list(group)
            kind = TEXT_EVENTS.get(event_type)
            if kind is None:
                self._take_each(same, made)
            elif not self._take_texts(kind, same, made) and not self.is_over:
                made.append(self.take(same[0]))  # it may open the text that the others continue
                if not self._take_texts(kind, same[1:], made):
                    self._take_each(same[1:], made)
        return b"".join(made)

    def _take_each(self, events: Sequence[Event], made: list[bytes]) -> None:
        for event in events:
            if self.is_over:
                return
            made.append(self.take(event))

    def _take_texts(self, kind: TextEvent, events: Sequence[Event], made: list[bytes]) -> bool:
        if self.is_over or not events:
            return False
        pieces = [each.text for each in _texts.decode(b"[%b]" % b",".join([event.data for event in events]))]
        found = self.more_text(kind, pieces, events) if all(pieces) else None
        if found is not None:
            made.append(found)
        return found is not None
