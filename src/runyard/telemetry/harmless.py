"""What reports on the server must not change what the server does: its failures are counted and go no further.

`safely` and `harmless` call something that counts, traces or exports. `Lines` is the stream that log lines are written
to: a full disk, a closed pipe or a pipe that is not read any more loses lines, and nothing else.
"""

import os
import select
import time
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol

P = ParamSpec("P")

PIECE = 4096  # bytes that a pipe which is ready takes without blocking
WAIT_SECONDS = 0.05  # for a reader that is slow
failures: Counter[str] = Counter()  # of sinks in this process, by the name of what failed


class Stream(Protocol):
    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


def safely(call: Callable[P, None], /, *args: P.args, **kwargs: P.kwargs) -> None:
    """Call it, and count what it raises instead of raising it."""
    try:
        call(*args, **kwargs)
    except Exception:
        failures[getattr(call, "__qualname__", type(call).__name__)] += 1


def harmless(call: Callable[P, None]) -> Callable[P, None]:
    """The same function, which never raises."""

    @wraps(call)
    def contained(*args: P.args, **kwargs: P.kwargs) -> None:
        safely(call, *args, **kwargs)

    return contained


class Lines:
    """A stream that takes whole lines and never raises or blocks. When lines were lost, the next one that can be
    written is preceded by `lost(count)`."""

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
            return None  # not a real file, or closed: writing to it says which


def _is_ready(number: int, until: float) -> bool:
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return bool(poll.poll(max(0.0, until - time.monotonic()) * 1000))
