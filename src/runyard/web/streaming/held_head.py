"""Writes the head of a response together with the first bytes of its body.

A write is a system call, and it wakes the client. uvicorn writes the head on its own, so a small response costs two.
For a run of nothing, writes are a third of the server's work.
"""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

HOLD_SECONDS = 0.03  # a busy server ends an empty run within this time


class HeldHead:
    """Stands in for the transport of one response until its head is written. The head waits for the first bytes of the
    body, but at most `HOLD_SECONDS`: then a stream without events begins."""

    def __init__(self, cycle: "RequestResponseCycle", loop: asyncio.AbstractEventLoop) -> None:
        self._cycle = cycle
        self._loop = loop
        self._transport = cycle.transport
        self._head: bytes | None = None
        self._timer: asyncio.TimerHandle | None = None

    def write(self, data: bytes) -> None:
        if not self._cycle.response_started:  # `100 Continue`
            self._transport.write(data)
        elif self._head is None:
            self._head = data
            self._loop.call_soon(self._wait)
        else:
            self._head += data
            self.flush()

    def _wait(self) -> None:
        """Start the timer, unless the body came in the same round of the event loop, as most bodies do."""
        if self._head is not None:
            self._timer = self._loop.call_later(HOLD_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what is held, and leave the rest of the response to the transport."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        head, self._head = self._head, None
        self._cycle.transport = self._transport
        if head is not None and not self._transport.is_closing():
            self._transport.write(head)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
