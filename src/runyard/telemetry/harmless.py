"""Telemetry that fails must not change what the server does: failures are counted and suppressed.

`safely` and `harmless` wrap calls that count, trace or export. `Lines` is the stream of log lines: a full disk, a
closed pipe or a stalled reader loses lines, and has no other effect.
"""

import os
import select
import time
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol

P = ParamSpec("P")

PIECE = 4096  # bytes that a ready pipe accepts without blocking
WAIT_SECONDS = 0.05  # for a slow reader
failures: Counter[str] = Counter()  # of this process, by the name of the failed call


class Stream(Protocol):
    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


def safely(call: Callable[P, None], /, *args: P.args, **kwargs: P.kwargs) -> None:
    """Call it; count an exception instead of raising it."""
    try:
        call(*args, **kwargs)
    except Exception:
        failures[getattr(call, "__qualname__", type(call).__name__)] += 1


def harmless(call: Callable[P, None]) -> Callable[P, None]:
    """Return the same function, but one that never raises."""

    @wraps(call)
    def contained(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            call(*args, **kwargs)
        except Exception:
            failures[call.__qualname__] += 1

    return contained


class Lines:
    """A stream of whole lines that never raises or blocks. After lost lines, `lost(count)` precedes the next line."""

    def __init__(self, stream: Stream | None, lost: Callable[[int], str] = lambda count: "") -> None:
        self._stream = stream
        self._describe = lost
        self._lost = 0
        self._torn = False

    def write(self, text: str, /) -> int:
        try:
            said = f"{self._describe(self._lost)}\n{text}" if self._lost else text
            self._send(f"\n{said}" if self._torn else said)
            self._lost = 0
        except Exception:
            self._lost += 1
            failures["log"] += 1
        return len(text)

    def flush(self) -> None:
        """Every line is flushed as it is written."""

    def isatty(self) -> bool:
        return False

    def _send(self, text: str) -> None:
        number = self._file()
        if number is None:
            if self._stream is not None:
                self._stream.write(text)
                self._stream.flush()
            return
        # Not through the stream: its buffer would keep what could not be written, and fail again when Python exits.
        data = memoryview(text.encode(errors="replace"))
        self._torn = False
        until = time.monotonic() + (0 if self._lost else WAIT_SECONDS)
        sent = 0
        while sent < len(data):
            try:
                if not _is_ready(number, until):
                    raise BlockingIOError
                sent += os.write(number, data[sent : sent + PIECE])
            except OSError:
                self._torn = sent > 0
                raise

    def _file(self) -> int | None:
        fileno: Any = getattr(self._stream, "fileno", None)
        if fileno is None:
            return None
        try:
            return int(fileno())
        except (OSError, ValueError):
            return None  # not a real file, or closed; a write raises the right error


def _is_ready(number: int, until: float) -> bool:
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return bool(poll.poll(max(0.0, until - time.monotonic()) * 1000))
