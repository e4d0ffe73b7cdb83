"""Limits on open streams: of this process, and of one API key.

Counted in this process: with several processes, a key may open as many streams at each of them. Requests without a key
count against the limit of the process only.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from runyard.errors import TooManyStreams

RETRY_SECONDS = 5.0
SLOTS = "runyard.stream_slots"  # the key of the slots of this process in a request's scope


class StreamSlots:
    """A stream holds a slot from its request to the end of its response."""

    def __init__(self, here: int, per_key: int) -> None:
        self._here = here
        self._per_key = per_key
        self._open = 0
        self._of_key: Counter[str] = Counter()

    @contextmanager
    def taken(self, key: str | None) -> Iterator[None]:
        """Hold a slot. Raise TooManyStreams if a limit is reached."""
        if self._open >= self._here:
            raise TooManyStreams("Too many streams are open at this process; try another.", retry_after=RETRY_SECONDS)
        if key is not None and self._of_key[key] >= self._per_key:
            raise TooManyStreams(
                f"This API key has {self._per_key} streams open; close one first.", retry_after=RETRY_SECONDS
            )
        self._open += 1
        if key is not None:
            self._of_key[key] += 1
        try:
            yield
        finally:
            self._open -= 1
            if key is not None:
                self._of_key[key] -= 1
                if not self._of_key[key]:
                    del self._of_key[key]


class Slot:
    """A slot that a request holds. Unless a response holds it on, it is released when the request has been handled."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def held_by(self, stream: Response) -> Response:
        """Return the stream so that it holds the slot until it has ended."""
        return _Holding(stream, self._stack.pop_all())


class _Holding(Response):
    def __init__(self, stream: Response, stack: ExitStack) -> None:
        super().__init__()
        self._stream = stream
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._stack:
            await self._stream(scope, receive, send)


@contextmanager
def counted(request: Request, key: str | None) -> Iterator[Slot]:
    """Hold a slot while a request is handled. For routes that are not always streams."""
    slots: StreamSlots = request.scope[SLOTS]
    with ExitStack() as stack:
        stack.enter_context(slots.taken(key))
        yield Slot(stack)
