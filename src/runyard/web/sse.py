"""Server-sent events: the one way a log leaves the server.

All chunks that are ready go out in one write; a face says how an event looks, and followers of one face share the
encoded bytes. Only log events carry an id; a heartbeat is a comment. The response ends cleanly after the terminal
event and never otherwise: a shutdown or a reader that stopped reading gets its socket cut, so that it comes back with
Last-Event-ID.
"""

import asyncio
from collections.abc import Callable

import structlog
from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from runyard.domain.events import Event
from runyard.engine.attendance import Attendance
from runyard.engine.stream import Follower, Pause, Streams
from runyard.engine.tail import Chunk
from runyard.errors import BadRequest

log = structlog.get_logger()

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)
PING = b": ping\n\n"
STALL_SECONDS = 60.0
MAX_SEQ = 2**53
Frame = Callable[[Event], bytes]


class StreamCut(Exception):
    """The stream is ended in the middle, on purpose."""


class EventStream(Response):
    """A run's log in a face's words. `frame` gives one event's bytes, or none; `name` tells faces apart. `published`:
    only what the outbox has published. `attendance` is told if the client closes before the end."""

    def __init__(
        self,
        streams: Streams,
        run_id: str,
        after: int,
        name: str,
        frame: Frame,
        heartbeat: float,
        *,
        published: bool = False,
        attendance: Attendance | None = None,
    ) -> None:
        super().__init__()
        self._streams = streams
        self._run_id = run_id
        self._after = after
        self._name = name
        self._frame = frame
        self._heartbeat = heartbeat
        self._published = published
        self._attendance = attendance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        follower = self._streams.follow(self._run_id, self._after, published=self._published)
        reader = asyncio.create_task(_until_gone(receive, follower))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            is_gone = await self._pump(follower, send)
        finally:
            reader.cancel()
            follower.close()
        if is_gone and self._attendance is not None:
            await self._attendance.leave(self._run_id)

    async def _pump(self, follower: Follower, send: Send) -> bool:
        """Send what there is until the end, or until the client is gone: then True."""
        while True:
            match await follower.next(self._heartbeat):
                case list() as chunks:
                    await _write(send, b"".join(map(self._encoded, chunks)))
                case Pause.IDLE:
                    await _write(send, PING)
                case Pause.END:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return False
                case Pause.CUT:
                    raise StreamCut
                case Pause.GONE:
                    return True

    def _encoded(self, chunk: Chunk) -> bytes:
        encoded = chunk.frames.get(self._name)
        if encoded is None:
            encoded = chunk.frames[self._name] = b"".join(map(self._frame, chunk.events))
        return encoded


async def _write(send: Send, body: bytes) -> None:
    if not body:
        return
    try:
        async with asyncio.timeout(STALL_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": True})
    except TimeoutError:
        log.info("stream.stalled")
        raise StreamCut from None


async def _until_gone(receive: Receive, follower: Follower) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.leave()


def start_of(request: Request) -> int:
    """Where a reader goes on: `Last-Event-ID`, `fromSeq` and `after` each name the last seq seen; the largest wins."""
    query = request.query_params
    given = (request.headers.get("last-event-id"), query.get("fromSeq"), query.get("after"))
    return max((_seq(value) for value in given if value), default=0)


def _seq(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= 16) or int(given) > MAX_SEQ:
        raise BadRequest("Last-Event-ID, fromSeq and after must be a seq: a whole number from 0.")
    return int(given)
