"""Limits on connections, enforced before a request is parsed: header bytes, time, and number of connections.

uvicorn's own protocol reads headers without a limit and waits for a client forever. `Bounded` is that protocol with
limits. A connection over a limit gets a problem and is closed; other connections are not affected. These limits apply
to every client, because a client is authenticated later.

A head is the request line and the headers. Incomplete heads are the only memory that an unauthenticated client can
occupy; all of them together may have `MOST_WAITING` bytes.
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from enum import Enum, auto
from ipaddress import IPv6Address, ip_address
from typing import Any, ClassVar, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from runyard.web.body import UPLOAD
from runyard.web.errors.problems import Problem, path_of
from runyard.web.streaming.direct_writes import DIRECT, DirectWriter
from runyard.web.streaming.held_head import HeldHead
from runyard.web.streaming.sse import ABORT

MOST_WAITING = 16 * 1024 * 1024
FILES_KEPT_FREE = 128  # open files that are not client connections
CLOSE_SECONDS = 5.0  # for the client to read the error
END = b"\r\n\r\n"
SLOWEST_UPLOAD = 64 * 1024  # bytes a second


class ConnectionLimits(NamedTuple):
    """Bytes of a head; seconds for the head and for the body; connections of the process and of one address; bytes of
    an upload."""

    header_bytes: int
    header_seconds: float
    body_seconds: float
    connections: int
    per_address: int
    upload_bytes: int = 0

    @property
    def upload_seconds(self) -> float:
        """Seconds that a client has to send a file."""
        return self.body_seconds + self.upload_bytes / SLOWEST_UPLOAD

    def fitting(self, open_files: int) -> "ConnectionLimits":
        """Return these limits lowered to what a process with so many open files allows. One address gets at most three
        quarters of the connections."""
        most = min(self.connections, max(1, open_files - FILES_KEPT_FREE))
        return self._replace(connections=most, per_address=min(self.per_address, max(1, most * 3 // 4)))


class Connections:
    """The connections of a process. `refused` is called with the code of every refusal."""

    def __init__(self, limits: ConnectionLimits, refused: Callable[[str], None]) -> None:
        self.limits = limits.fitting(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        self.refused = refused
        self.waiting = 0  # bytes of incomplete heads
        self._open = 0
        self._of_address: Counter[str] = Counter()

    def admit(self, address: str) -> bool:
        if self._open >= self.limits.connections or self._of_address[address] >= self.limits.per_address:
            return False
        self._open += 1
        self._of_address[address] += 1
        return True

    def leave(self, address: str) -> None:
        self._open -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]


class _Part(Enum):
    """The part of a request that is being read."""

    NONE = auto()
    HEAD = auto()
    BODY = auto()


class Bounded(HttpToolsProtocol):
    """One connection with limits. The connections of a process share `all`."""

    all: ClassVar[Connections]

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._limits = self.all.limits
        self._part = _Part.NONE
        self._head = 0  # bytes of the head that were received
        self._last = b""
        self._chunk = 0  # bytes of the data that is being parsed
        self._most_of_head = 0  # the current head is not larger; while this is within the limit, heads are not counted
        self._timer: asyncio.TimerHandle | None = None
        self._timed: _Part | None = None
        self._address: str | None = None
        self._is_refused = False
        self._is_too_large = False

    # --- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = _address(self.client)
        if not self.all.admit(address):
            self._refuse(503, "too_many_connections", "Too many connections are open. Try again later.")
            return
        self._address = address
        self._time(_Part.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._wait_for(0)
        if self._address is not None:
            self.all.leave(self._address)
            self._address = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        before = self._part
        self._chunk = len(data)
        self._most_of_head += self._chunk
        if (
            self._most_of_head > self._limits.header_bytes
            and before is not _Part.BODY
            and self._head + self._head_in(data) > self._limits.header_bytes
        ):
            self._refuse_head()
            return
        super().data_received(data)
        if self._part is _Part.HEAD:
            self._last = data[-3:]
            self._wait_for(0 if before is _Part.BODY else self._head + len(data))
            self._time(_Part.HEAD)
        else:
            self._wait_for(0)
            if self._part is _Part.BODY:
                self._time(_Part.BODY)
            elif self._answering() is not None:
                self._stop()
            else:  # empty lines between requests
                self._time(_Part.HEAD)
        if self.all.waiting > MOST_WAITING and self._head:
            self._refuse(503, "too_many_connections", "Too many requests are being sent. Try again later.")

    def _head_in(self, data: bytes) -> int:
        """Count the bytes that belong to the current head."""
        end = (self._last + data).find(END)
        return len(data) if end < 0 else end + len(END) - len(self._last)

    def _wait_for(self, head: int) -> None:
        self.all.waiting += head - self._head
        self._head = head
        if not head:
            self._last = b""

    # --- what the parser finds

    def on_message_begin(self) -> None:
        self._part = _Part.HEAD
        super().on_message_begin()
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]

    def on_headers_complete(self) -> None:
        """Begin to answer. A head that arrived together with the end of another request has the same limit."""
        if self._most_of_head > self._limits.header_bytes:
            size = len(self.url) + sum([len(name) + len(value) + 4 for name, value in self.headers])
            if size > self._limits.header_bytes:
                self._is_too_large = True
                raise ValueError("The head is too large.")
        self._most_of_head = self._chunk
        self._part = _Part.BODY
        super().on_headers_complete()
        if self.cycle is not None:
            self.scope[DIRECT] = DirectWriter(self.cycle)  # type: ignore[literal-required]
            if self.scope["method"] != "HEAD":  # its response has no body
                self.cycle.transport = HeldHead(self.cycle, self.loop)  # type: ignore[assignment]

    def on_message_complete(self) -> None:
        self._part = _Part.NONE
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._is_too_large:
            self._refuse_head()
        else:
            self._refuse(400, "bad_request", "This is not a valid HTTP request.")

    # --- time

    def _time(self, part: _Part) -> None:
        """Start the timer for a part of the request, unless it runs already."""
        if self._timed is part:
            return
        self._stop()
        seconds = self._body_seconds() if part is _Part.BODY else self._limits.header_seconds
        self._timed, self._timer = part, self.loop.call_later(seconds, self._is_late)

    def _body_seconds(self) -> float:
        is_upload = self.scope["method"] == "POST" and path_of(dict(self.scope)) == UPLOAD
        return self._limits.upload_seconds if is_upload else self._limits.body_seconds

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timed = self._timer = None

    def _is_late(self) -> None:
        if self.transport.is_closing():
            return
        if self._part is _Part.NONE:  # no request has begun
            self.transport.close()
            return
        self._refuse(408, "too_slow", f"The {self._part.name.lower()} of the request took too long to arrive.")

    # --- refusals

    def _refuse_head(self) -> None:
        most = self._limits.header_bytes
        self._refuse(
            431, "headers_too_large", f"The request line and the headers are too large. The limit is {most} bytes."
        )

    def _answering(self) -> RequestResponseCycle | None:
        """Return the request that is being answered, or None."""
        cycle: Any = self.cycle
        return None if cycle is None or cycle.response_complete else cycle

    def _refuse(self, status: int, code: str, detail: str) -> None:
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        self._stop()
        self._wait_for(0)
        self.all.refused(code)
        cycle = self._answering()
        if cycle is not None and isinstance(held := cycle.transport, HeldHead):
            held.flush()
        if cycle is None or not cycle.response_started:
            self.transport.write(_answer(status, code, detail))
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        if self._address is None:
            self.transport.close()
            return
        # If the server closes while the client still sends, TCP resets the connection and the response is lost.
        self.transport.write_eof()
        self._timer = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)

    def eof_received(self) -> None:
        if self._is_refused:
            self.transport.close()
        super().eof_received()

    def shutdown(self) -> None:
        if self._is_refused:
            self.transport.abort()
        else:
            super().shutdown()


def bounded(limits: ConnectionLimits, refused: Callable[[str], None]) -> type[Bounded]:
    """Return the protocol class for the connections of one process."""
    return type("BoundedProtocol", (Bounded,), {"all": Connections(limits, refused)})


def _address(client: tuple[str, int] | None) -> str:
    """Return the client's address; for IPv6 its /64 network, because one client may use all addresses of it."""
    if client is None:
        return ""
    try:
        address = ip_address(client[0].partition("%")[0])
    except ValueError:
        return client[0]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(IPv6Address(int(address) >> 64 << 64))
    return str(address)


def _answer(status: int, code: str, detail: str) -> bytes:
    body = Problem(status, code, detail).body
    kind = Problem.media_type
    head = f"content-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
    retry = "retry-after: 1\r\n" if status == 503 else ""
    return STATUS_LINE[status] + f"{head}{retry}\r\n".encode() + bytes(body)
