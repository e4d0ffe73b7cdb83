"""The token limit of one model answer, enforced even if the provider ignores `max_output_tokens`.

Providers get the limit, but not all of them respect it. While an answer streams, its tokens can only be estimated: it
is cut off at twice the characters that the limit allows for ordinary text. The token count that the provider reports at
the end is taken as reported.
"""

from msgspec.structs import replace

from runyard.agents.kinds.model.tokens import LETTERS_PER_TOKEN
from runyard.domain.events import Usage
from runyard.models.model import Finished, Text, Thinking

MARGIN = 2


class OutputLimit:
    """Counts one answer while it streams."""

    def __init__(self, max_output_tokens: int | None) -> None:
        self._most = max_output_tokens
        self._letters = 0
        self._text: list[str] = []
        self._thinking: list[str] = []

    def is_overrun_by(self, piece: Text | Thinking) -> bool:
        """Count this piece and return whether the answer is now too long."""
        if self._most is None:
            return False
        (self._text if isinstance(piece, Text) else self._thinking).append(piece.text)
        self._letters += len(piece.text)
        return self._letters > self._most * LETTERS_PER_TOKEN * MARGIN

    def cut_off(self) -> Finished:
        """Return the text so far as an answer that the limit ended, with estimated usage."""
        message = {"role": "assistant", "content": "".join(self._text)}
        if self._thinking:
            message["reasoning_content"] = "".join(self._thinking)
        usage = Usage(output_tokens=max(self._most or 0, self._letters // LETTERS_PER_TOKEN))
        return Finished(message=message, usage=usage, reason="length")

    def checked(self, finished: Finished) -> Finished:
        """Return the finished answer, marked as ended by the limit if it exceeded the limit.

        Tool calls in it are complete and are made; after them the run's budget is spent."""
        calls = finished.message.get("tool_calls")
        overrun = self._most is not None and finished.usage.output_tokens > self._most and not calls
        return replace(finished, reason="length") if overrun else finished
