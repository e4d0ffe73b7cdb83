"""Redacts the events and the output of a run before they are stored: most as a whole, the output of a tool as a
stream."""

from typing import TYPE_CHECKING, TypeVar, cast

from msgspec.structs import replace

from runyard.agents.declared.agent import Output
from runyard.agents.execution import ModelOutput
from runyard.domain.events import Payload, StepFinished, ToolFinished, ToolOutput, clean
from runyard.domain.redaction.redacted import redacted
from runyard.domain.wait import Wait

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor, Stream

P = TypeVar("P", bound=Payload)


class EventRedactor:
    """Redacts the events of one claim. Output of a tool is held back while it may still become a match, at most until
    the call ends."""

    def __init__(self, redactor: "Redactor") -> None:
        self._redactor = redactor
        self._outputs: dict[str, Stream] = {}

    def redact_wait(self, wait: Wait) -> Wait:
        return replace(wait, input=self._redactor.value(wait.input))

    def redact(self, payload: P) -> tuple[P, list[Payload]]:
        """Return the event as it is stored, and the events to write now: output that was held back and the event
        itself; or none, if all of its text is held back."""
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
                end = redacted(payload, self._redactor)
                return end, [*([ToolOutput(key, rest)] if rest else []), end]
            case _:
                stored = redacted(payload, self._redactor)
                return stored, [stored]


def output_as_stored(output: Output, redactor: "Redactor") -> ModelOutput:
    """Return the output redacted, and without characters that a database cannot store."""
    why, last = (output.stop_reason, output.last) if isinstance(output, ModelOutput) else ("end_turn", None)
    return ModelOutput(
        redactor.text(clean(output.text)),
        redactor.value([clean(source) for source in output.sources]),
        redactor.value(dict(output.outputs)),
        output.files,
        stop_reason=why,
        last=None if last is None else redactor.text(clean(last)),
    )
