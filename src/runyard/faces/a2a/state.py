"""The state of the translation of a log after an event. It is JSON, so a snapshot can hold it."""

from typing import Any

from msgspec import Struct, field

from runyard.domain.events import RunError
from runyard.domain.wait import ClientWait

SUBMITTED, WORKING = "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"
COMPLETED, FAILED, CANCELED = "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"
INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
TERMINAL = frozenset({COMPLETED, FAILED, CANCELED})
CLOSING = TERMINAL | {INPUT_REQUIRED}  # a stream ends when its task reaches one of these


class State(Struct, kw_only=True):
    """The state of the translation after an event. A part ends where the task requires input."""

    run_id: str
    part: int = 1
    status: dict[str, Any] = field(default_factory=lambda: {"state": SUBMITTED})
    echo: dict[str, Any] = field(default_factory=dict)  # of the request that started the run
    written: list[str] = field(default_factory=list)  # the text of the answer, in pieces
    kept: int = 0  # pieces that a reset does not withdraw
    has_answer: bool = False  # the artifact of the answer has been shown
    artifacts: list[dict[str, Any]] = field(default_factory=list)  # besides the answer
    history: list[dict[str, Any]] = field(default_factory=list)  # messages after the first
    received: dict[str, dict[str, Any]] = field(default_factory=dict)  # messages that the run has not taken, by id
    waits: dict[str, ClientWait] = field(default_factory=dict)  # by wait id
    metadata: dict[str, Any] = field(default_factory=dict)
    error: RunError | None = None

    @property
    def name(self) -> str:
        """The state of the task."""
        found: str = self.status["state"]
        return found

    @property
    def is_writing(self) -> bool:
        """Whether another piece of text only makes the answer longer."""
        return self.has_answer and self.name == WORKING
