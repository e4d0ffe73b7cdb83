"""Every error of `runyard.errors` says what is wrong, and then what to do."""

import re

import pytest

from runyard import errors
from runyard.errors import RunyardError

KINDS = [getattr(errors, name) for name in errors.__all__]
# A second sentence or clause that begins with an instruction.
REMEDY = re.compile(
    r"[.;:] (?i:add|answer|await|cancel|check|choose|close|correct|create|free|make|pass|read|retry|return|send|set"
    r"|start|test|try|use|write|allow|agents must)\b|`runyard \w+[^`]*`"
)
# Their message comes from the agent, the tool or the caller that raises them, or there is nothing to do.
WITHOUT_REMEDY = {
    "AgentError": "the message of the agent",
    "AlreadyDecided": "the first decision counts",
    "CancelRequested": "for the engine only",
    "Conflict": "a base: each kind says its own",
    "Fenced": "for the engine only",
    "Gone": "it was deleted",
    "NodeFailed": "the log names the exception of the node",
    "NonMonotonicSeq": "for the engine only",
    "NotParked": "for the engine only",
    "Rejected": "a person decided",
    "StartupError": "each use says its own",
    "StepFailed": "the log names the exception of the step",
    "ToolError": "the message of the tool",
    "ToolFailed": "the log names the exception of the tool",
    "WriteRefused": "for the engine only",
}


def message_of(kind: type[RunyardError]) -> str:
    return kind().message


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_says_what_is_wrong_and_then_what_to_do(kind: type[RunyardError]) -> None:
    message = message_of(kind)
    assert message == message.strip()
    assert message.endswith((".", "`."))
    assert "  " not in message
    assert "\n" not in message
    assert (REMEDY.search(message) is None) == (kind.__name__ in WITHOUT_REMEDY), message


@pytest.mark.parametrize("message", ["A node failed.", "The answer is too large.", "It was read. Reading failed."])
def test_the_rule_sees_a_message_without_a_remedy(message: str) -> None:
    assert REMEDY.search(message) is None
