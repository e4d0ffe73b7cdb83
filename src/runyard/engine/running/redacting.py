"""What an execution writes, redacted before it is stored: events as a whole, the output of a tool as a stream."""

from typing import TYPE_CHECKING, TypeVar, cast

from msgspec.structs import replace

from runyard.domain.approval import Approval
from runyard.domain.events import Payload, StepFinished, ToolFinished, ToolOutput
from runyard.domain.redacted import redacted

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor, Stream

P = TypeVar("P", bound=Payload)


class Redacting:
    """One execution's. A call's output is held back until it is decided, at the latest until the call ends."""

    def __init__(self, redactor: "Redactor") -> None:
        self._redactor = redactor
        self._outputs: dict[str, Stream] = {}

    def approval(self, asked: Approval) -> Approval:
        return replace(asked, input=self._redactor.value(asked.input))

    def stored(self, payload: P) -> tuple[P, list[Payload]]:
        """The event as it is to be stored, and the events to be written now: that one, what was held back before it,
        or none, if all of it is held back."""
        match payload:
            case ToolOutput(call_id, text):
                stream = self._outputs.get(call_id)
                if stream is None:
                    stream = self._outputs[call_id] = self._redactor.stream()
                ready = ToolOutput(call_id, stream.feed(text))
                return cast(P, ready), [ready] if ready.text else []
            case ToolFinished(call_id=key) | StepFinished(step=key):
                stream = self._outputs.pop(key, None)
                rest = "" if stream is None else stream.close()
                ended = redacted(payload, self._redactor)
                return ended, [*([ToolOutput(key, rest)] if rest else []), ended]
            case _:
                made = redacted(payload, self._redactor)
                return made, [made]
