"""The state of the translation of a log after an event. It is JSON, so a snapshot can hold it."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from runyard.domain.state.parted import PartedState


class ShownCall(Struct):
    """A tool call that the client has as a part of its message. `step` is the number of the step it is in."""

    id: str
    input: Any
    step: int
    is_denied: bool = False


class State(PartedState, kw_only=True):
    """The state of the translation after an event."""

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
    calls: dict[str, ShownCall] = field(default_factory=dict)  # by call id
    client_step: int = 0  # the last step with something that the client answers
    client_calls: dict[str, str] = field(default_factory=dict)  # wait ids of client tools by call id

    def is_writing(self, kind: str) -> bool:
        """Return whether another piece of this kind only adds to the open text."""
        return self.text is not None and self.text_kind == kind

    def write_on(self, pieces: Sequence[str]) -> None:
        """Add pieces to the open text."""
        self.count += len(pieces)
        if self.text_kind == "text":
            self.written += pieces

    @property
    def size_of_all(self) -> int:
        """Return the number of chunks of all parts in one stream, see `follow.Encoder`."""
        return sum(self.sizes) + self.count - max(0, self.part - 1) if self.is_open else self._ended_size

    @property
    def _ended_size(self) -> int:
        return sum(self.sizes) - max(0, len(self.sizes) - 1)
