"""What one answer of a model may have at most, whatever its provider makes of `max_output_tokens`.

Providers are told the limit, and not all of them keep it. While an answer streams its tokens can only be guessed: it is
cut off when it has twice as many letters as the limit allows for ordinary text. What the provider reports at the end is
taken as it is.
"""

from msgspec.structs import replace

from runyard.agents.model.prompt import LETTERS_PER_TOKEN
from runyard.domain.events import Usage
from runyard.model import Finished, Text, Thinking

MARGIN = 2


class Allowance:
    """Counts one answer as it streams."""

    def __init__(self, max_output_tokens: int | None) -> None:
        self._most = max_output_tokens
        self._letters = 0
        self._text: list[str] = []
        self._thinking: list[str] = []

    def is_overrun_by(self, said: Text | Thinking) -> bool:
        """Count this piece too; return whether the answer is too long by now."""
        if self._most is None:
            return False
        (self._text if isinstance(said, Text) else self._thinking).append(said.text)
        self._letters += len(said.text)
        return self._letters > self._most * LETTERS_PER_TOKEN * MARGIN

    def cut_off(self) -> Finished:
        """Return what was said so far as an answer that its limit ended, with a guess of what it cost."""
        message = {"role": "assistant", "content": "".join(self._text)}
        if self._thinking:
            message["reasoning_content"] = "".join(self._thinking)
        usage = Usage(output_tokens=max(self._most or 0, self._letters // LETTERS_PER_TOKEN))
        return Finished(message=message, usage=usage, reason="length")

    def checked(self, finished: Finished) -> Finished:
        """Return the whole answer; if it took more tokens than it might, as one that its limit ended. Calls that it
        asks for are whole and are made; then the run's budget is spent."""
        calls = finished.message.get("tool_calls")
        overrun = self._most is not None and finished.usage.output_tokens > self._most and not calls
        return replace(finished, reason="length") if overrun else finished
