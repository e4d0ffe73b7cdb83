"""Streams a part of a run: in some protocols an answer ends before its run does, and another request continues it.

So an encoder stands between the log and the stream. It reads the log from the beginning, makes the bytes of its part,
and says when the part is over.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from runyard.domain.events import Event
from runyard.engine.log.stream import Pause, Streams
from runyard.web.context import Context
from runyard.web.sse import LiveStream


class Encoder(Protocol):
    """Makes the bytes of one part. `is_over`: it has made the last ones."""

    is_over: bool

    def take(self, event: Event) -> bytes: ...


class PartFollower:
    """A cursor over one part: follows the log from its beginning and ends with the part."""

    def __init__(self, streams: Streams, run_id: str, encoder: Encoder) -> None:
        self._log = streams.follow(run_id, 0)
        self._encoder = encoder

    async def next(self, patience: float) -> Sequence[bytes] | Pause:
        if self._encoder.is_over:
            return Pause.END
        found = await self._log.next(patience)
        if isinstance(found, Pause):
            return found
        return [piece for chunk in found for piece in self._encoded(chunk.events)]

    def _encoded(self, events: Sequence[Event]) -> Iterator[bytes]:
        for event in events:
            if not self._encoder.is_over:
                yield self._encoder.take(event)

    def leave(self) -> None:
        self._log.leave()

    def close(self) -> None:
        self._log.close()


class PartStream(LiveStream):
    """The stream of one part."""

    def __init__(self, context: Context, run_id: str, encoder: Encoder, headers: Mapping[str, str]) -> None:
        follow = partial(PartFollower, context.engine.streams, run_id, encoder)
        super().__init__(follow, bytes, context.heartbeat, headers)
