"""Writes server-sent events. Every log leaves the server through this module.

All chunks that are ready go out in one write. A face encodes the events; followers of the same face share the bytes.
Only log events carry an id; a heartbeat is a comment. The response ends cleanly only after the terminal event. On
shutdown, a revoked key or a client that stopped reading, the server cuts the connection, so that the client reconnects
with Last-Event-ID.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.engine.access import Caller
from runyard.engine.control.disconnects import Disconnects
from runyard.engine.log.stream import Follower as LogFollower
from runyard.engine.log.stream import Pause, Streams
from runyard.engine.log.tail import Chunk
from runyard.errors import BadRequest
from runyard.telemetry.logger import get_logger
from runyard.web.context import Context
from runyard.web.errors.problems import CALLER
from runyard.web.streaming.direct_writes import DIRECT, DirectWriter
from runyard.web.streaming.part_encoder import PartEncoder

log = get_logger()

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)
PING = b": ping\n\n"
STALL_SECONDS = 60.0
ABORT = "runyard.abort"  # key in a request's scope: a function that drops the connection with its unsent bytes
MAX_SEQ = 2**53
Frame = Callable[[Event], bytes]


class StreamCut(Exception):
    """The server ends a stream before its last event."""


class Follower(Protocol):
    """A cursor over a live sequence: `next` returns items, or the reason why there are none."""

    async def next(self, patience: float) -> Sequence[Any] | Pause: ...

    def leave(self) -> None: ...

    def close(self) -> None: ...


class LiveStream(Response):
    """Sends the items of a follower as server-sent events until they end or the client disconnects. A stream whose key
    is revoked is cut. `first_headers` and `ping`: for protocols that need another type or another heartbeat."""

    first_headers: Sequence[tuple[bytes, bytes]] = HEADERS
    ping = PING

    def __init__(
        self,
        follow: Callable[[], Follower],
        encoded: Callable[[Any], bytes],
        heartbeat: float,
        extra_headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status_code, self.background = 200, None  # the base class would make headers that are not sent
        self._follow = follow
        self._encoded = encoded
        self._heartbeat = heartbeat
        more = [(name.lower().encode(), value.encode()) for name, value in (extra_headers or {}).items()]
        self._head = [*self.first_headers, *more]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        follower = self._follow()
        reader = asyncio.create_task(_until_gone(receive, follower))
        stall = _StallTimer(send)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self._head})
            if (direct := scope.get(DIRECT)) is not None:
                self._push_from(follower, _Pusher(direct, scope[CALLER]))
            is_gone = await self._pump(follower, stall.write, scope[CALLER])
        except asyncio.CancelledError:
            if not stall.is_over:
                raise
            log.info("stream.stalled")
            if (abort := scope.get(ABORT)) is not None:
                abort()  # `close` would wait until the client has read the unsent bytes
            raise StreamCut from None
        finally:
            stall.end()
            reader.cancel()
            follower.close()
        if is_gone:
            await self._gone()

    def _push_from(self, follower: Any, pusher: "_Pusher") -> None:
        """Let the follower push what it can. By default it pushes nothing, and `_pump` sends everything."""

    def _has_ended(self, follower: Any) -> bool:
        """Return whether the follower has returned its last items, so that they go out together with the end of the
        response. By default this is not known before the follower says `Pause.END`."""
        return False

    async def _gone(self) -> None:
        """Handle a client that disconnected before the end."""

    async def _pump(self, follower: Follower, write: Callable[[bytes, bool], Awaitable[None]], caller: Caller) -> bool:
        """Send items until the end. Return True if the client disconnected first. Items without bytes are no sign of
        life for the client, so a heartbeat is sent during them, too."""
        written_at = time.monotonic()
        while True:
            found = await follower.next(self._heartbeat)
            if not await caller.is_still_valid():
                raise StreamCut
            match found:
                case Pause.IDLE:
                    await write(self.ping, True)
                    written_at = time.monotonic()
                case Pause.END:
                    await write(b"", False)
                    return False
                case Pause.CUT:
                    raise StreamCut
                case Pause.GONE:
                    return True
                case items:
                    body = b"".join(map(self._encoded, items))
                    if self._has_ended(follower):
                        await write(body, False)
                        return False
                    if body or time.monotonic() - written_at >= self._heartbeat:
                        await write(body or self.ping, True)
                        written_at = time.monotonic()


class EventStream(LiveStream):
    """The stream of a run's log. `frame` encodes one event of a face; `name` is the face whose followers share the
    bytes, or None if they are for this follower only. `published`: send only events that the outbox has published.
    `disconnects` is notified if the client disconnects before the end."""

    def __init__(
        self,
        streams: Streams,
        run_id: str,
        after: int,
        name: str | None,
        frame: Frame,
        heartbeat: float,
        *,
        published: bool = False,
        disconnects: Disconnects | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> None:
        follow = partial(streams.follow, run_id, after, published=published)
        super().__init__(follow, partial(_frames, name, frame), heartbeat, extra_headers)
        self._run_id = run_id
        self._disconnects = disconnects

    def _push_from(self, follower: LogFollower, pusher: "_Pusher") -> None:
        follower.push_to(partial(pusher.push, self._encoded))

    def _has_ended(self, follower: LogFollower) -> bool:
        return follower.has_ended

    async def _gone(self) -> None:
        if self._disconnects is not None:
            await self._disconnects.disconnected(self._run_id)


def _frames(name: str | None, frame: Frame, chunk: Chunk) -> bytes:
    """Return the encoded events of a chunk. Followers of the face `name` share the bytes."""
    if name is None:
        return b"".join(map(frame, chunk.events))
    encoded = chunk.frames.get(name)
    if encoded is None:
        encoded = chunk.frames[name] = b"".join(map(frame, chunk.events))
    return encoded


class _Pusher:
    """Sends items to a client at once (`DirectWriter`), if its connection has room and its key is known to be valid."""

    __slots__ = ("_caller", "_direct")

    def __init__(self, direct: DirectWriter, caller: Caller) -> None:
        self._direct = direct
        self._caller = caller

    def push(self, encoded: Callable[[Any], bytes], items: Sequence[Any]) -> bool | None:
        """Encode and send these items. Return whether they had bytes, or None if nothing was encoded."""
        if not (self._direct.is_ready and self._caller.is_known_valid()):
            return None
        body = encoded(items[0]) if len(items) == 1 else b"".join(map(encoded, items))
        if body:
            self._direct.write(body)
        return bool(body)


class _StallTimer:
    """Writes to a client, and cancels the writing task if a write takes too long. One timer serves the whole stream,
    instead of one per write."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._since: float | None = None
        self._timer = self._loop.call_later(STALL_SECONDS / 2, self._check)
        self.is_over = False

    async def write(self, body: bytes, more: bool) -> None:
        self._since = self._loop.time()
        await self._send({"type": "http.response.body", "body": body, "more_body": more})
        self._since = None

    def _check(self) -> None:
        if self._task is not None and self._since is not None and self._loop.time() - self._since >= STALL_SECONDS:
            self.is_over = self._task.cancel()
        else:
            self._timer = self._loop.call_later(STALL_SECONDS / 2, self._check)

    def end(self) -> None:
        self._timer.cancel()


async def _until_gone(receive: Receive, follower: Follower) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.leave()


def start_of(request: Request) -> int:
    """Return the seq after which a client resumes: the largest of `Last-Event-ID`, `fromSeq` and `after`, or 0."""
    return requested_start(request) or 0


def requested_start(request: Request) -> int | None:
    """Return the seq after which a client resumes, or None if the request has none."""
    query = request.query_params if request.scope["query_string"] else {}
    given = (request.headers.get("last-event-id"), query.get("fromSeq"), query.get("after"))
    return max((_seq(value) for value in given if value), default=None)


def already_complete(request: Request, run: Run) -> Response | None:
    """Return 204 if the client has seen the last event of an ended run; it makes an EventSource stop reconnecting.

    Only Last-Event-ID counts, because an EventSource sends it. `after` and `fromSeq` get an empty stream."""
    seen = request.headers.get("last-event-id")
    if seen and run.status.is_terminal and _seq(seen) >= run.last_seq:
        return Response(status_code=204)
    return None


def _seq(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= 16) or int(given) > MAX_SEQ:
        raise BadRequest("Last-Event-ID, fromSeq and after must be a seq: a whole number from 0.")
    return int(given)


Prepare = Callable[[Sequence[Event]], Awaitable[None]]


class PartFollower:
    """A cursor over one part: follows the log from its beginning, or after a seq, and ends with the part. `first` goes
    before the first event."""

    def __init__(
        self,
        streams: Streams,
        run_id: str,
        encoder: PartEncoder,
        after: int = 0,
        first: bytes = b"",
        prepare: Prepare | None = None,
    ) -> None:
        self._log = streams.follow(run_id, after)
        self._encoder = encoder
        self._first = first
        self._prepare = prepare

    async def next(self, patience: float) -> Sequence[bytes] | Pause:
        if self._first:
            first, self._first = self._first, b""
            return [first]
        if self._encoder.is_over:
            return Pause.END
        found = await self._log.next(patience)
        if isinstance(found, Pause):
            return found
        if self._prepare is not None:
            await self._prepare([event for chunk in found for event in chunk.events])
        return [self._encoder.take_all(chunk.events) for chunk in found]

    def push_to(self, push: Callable[[Callable[[Chunk], bytes], Sequence[Chunk]], bool | None]) -> None:
        """Push events of the part at once, unless something has to be loaded for them."""
        if self._prepare is None:
            self._log.push_to(lambda chunks: push(self._bytes_of, chunks))

    @property
    def has_ended(self) -> bool:
        return self._encoder.is_over

    def _bytes_of(self, chunk: Chunk) -> bytes:
        encoded = self._encoder.take_all(chunk.events)
        if self._encoder.is_over:
            self._log.interrupt()
        return encoded

    def leave(self) -> None:
        self._log.leave()

    def close(self) -> None:
        self._log.close()


class PartStream(LiveStream):
    """The stream of one part."""

    def __init__(
        self,
        context: Context,
        run_id: str,
        encoder: PartEncoder,
        headers: Mapping[str, str],
        *,
        after: int = 0,
        first: bytes = b"",
        prepare: Prepare | None = None,
    ) -> None:
        """`prepare` gets the next events before the encoder does, and may load what they refer to."""
        follow = partial(PartFollower, context.engine.streams, run_id, encoder, after, first, prepare)
        super().__init__(follow, bytes, context.heartbeat, headers)

    def _push_from(self, follower: PartFollower, pusher: _Pusher) -> None:
        follower.push_to(pusher.push)

    def _has_ended(self, follower: PartFollower) -> bool:
        return follower.has_ended
