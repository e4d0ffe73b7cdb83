"""What the translation of a log knows after an event. It is JSON, so a snapshot can hold it."""

from typing import Any

from msgspec import Struct, field

from runyard.domain import wait
from runyard.domain.events import RunError


class ShownCall(Struct):
    """A tool call that the client has as a part of its message. `step` is the number of the step it is in."""

    id: str
    input: Any
    step: int
    is_denied: bool = False


class ClientWait(wait.ClientWait, kw_only=True):
    """A wait that the client may answer. `shown`: the id of the tool call that shows it, once it is shown."""

    shown: str | None = None


class State(Struct, kw_only=True):
    """What the translation knows after an event."""

    run_id: str
    part: int = 0
    is_open: bool = False
    sizes: list[int] = field(default_factory=list)  # chunks of the ended parts
    count: int = 0  # chunks of this part so far
    text: str | None = None  # the open text or reasoning part of the message
    text_kind: str = "text"
    step: int = 0  # the number of the open step
    step_size: int = 0  # chunks in it
    has_result: bool = False  # a result came since the step began: new text needs a new step
    has_turn: bool = False  # a turn of the model began since: anything new needs a new step
    is_fresh: bool = False  # the step has text that a reset withdraws
    again: list[dict[str, Any]] = field(default_factory=list)  # other chunks of the step, which a reset keeps
    has_text: bool = False
    written: list[str] = field(default_factory=list)  # the text, in pieces
    kept: int = 0  # pieces that a reset does not withdraw
    calls: dict[str, ShownCall] = field(default_factory=dict)  # by call id
    client_step: int = 0  # the last step with something that the client answers
    waits: dict[str, ClientWait] = field(default_factory=dict)  # by wait id
    client_calls: dict[str, str] = field(default_factory=dict)  # wait ids of client tools by call id
    others: dict[str, dict[str, Any]] = field(default_factory=dict)  # open waits for runs, times and events
    steps: dict[str, str] = field(default_factory=dict)  # names of the agent's open steps
    received: dict[str, str] = field(default_factory=dict)  # messages for this run that it has not taken
    error: RunError | None = None

    @property
    def size_of_all(self) -> int:
        """Return the number of chunks of all parts in one stream, see `follow.Encoder`."""
        return sum(self.sizes) + self.count - max(0, self.part - 1) if self.is_open else self._ended_size

    @property
    def _ended_size(self) -> int:
        return sum(self.sizes) - max(0, len(self.sizes) - 1)
