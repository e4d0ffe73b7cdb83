"""Text of an agent that may still become something sensitive, with more text behind it."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor


class RedactionBuffer:
    """The two streams of one execution. Only where redaction is on."""

    def __init__(self, redactor: "Redactor") -> None:
        self._text = redactor.stream()
        self._thinking = redactor.stream()
        self._writer: asyncio.Task[object] | None = None

    @property
    def is_mine(self) -> bool:
        """Whether it was the running task that wrote last."""
        return self._writer is asyncio.current_task()

    def text(self, piece: str) -> str:
        """What can be written now that this has come."""
        self._writer = asyncio.current_task()
        return self._text.feed(piece)

    def thinking(self, piece: str) -> str:
        self._writer = asyncio.current_task()
        return self._thinking.feed(piece)

    def rest(self) -> tuple[str, str]:
        return self._text.close(), self._thinking.close()
