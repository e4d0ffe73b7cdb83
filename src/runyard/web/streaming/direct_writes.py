"""Writes parts of a response that has begun at once, from any place in the code.

ASGI's `send` is a coroutine, so only the task of a request can write, and every event would cost a switch to that task.
A `DirectWriter` writes to the connection without it. It never waits: if the client reads too slowly, the task has to
write with `send`, which waits until there is room.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

DIRECT = "runyard.direct"  # key in a request's scope: the request's `DirectWriter`, if its server has one


class DirectWriter:
    """Writes parts of one chunked response."""

    __slots__ = ("_cycle",)

    def __init__(self, cycle: "RequestResponseCycle") -> None:
        self._cycle = cycle

    @property
    def is_ready(self) -> bool:
        """Whether `write` is possible now: the response has begun and the connection has room."""
        cycle = self._cycle
        return not (
            cycle.flow.write_paused or cycle.disconnected or cycle.response_complete or not cycle.chunked_encoding
        )

    def write(self, body: bytes) -> None:
        """Write a part of the response. Call it only if `is_ready`."""
        self._cycle.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
