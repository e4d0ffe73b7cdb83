"""Text of an agent that is held back because more text may complete something sensitive."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor


class RedactionBuffer:
    """The text and thinking streams of one execution. Only used if redaction is on."""

    def __init__(self, redactor: "Redactor") -> None:
        self._text = redactor.stream()
        self._thinking = redactor.stream()
        self._writer: asyncio.Task[object] | None = None

    @property
    def is_mine(self) -> bool:
        """Whether the current task wrote last."""
        return self._writer is asyncio.current_task()

    def text(self, piece: str) -> str:
        """Add a piece and return the text that can be written now."""
        self._writer = asyncio.current_task()
        return self._text.feed(piece)

    def thinking(self, piece: str) -> str:
        """Add a piece of reasoning and return the part that can be written now."""
        self._writer = asyncio.current_task()
        return self._thinking.feed(piece)

    def rest(self) -> tuple[str, str]:
        """Return the text and the thinking that are still held back, and clear them."""
        return self._text.close(), self._thinking.close()
