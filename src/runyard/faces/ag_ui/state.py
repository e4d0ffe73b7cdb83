"""The state of the translation of a log after an event. It is JSON, so a snapshot can hold it."""

from collections.abc import Sequence
from typing import Any

from msgspec import field

from runyard.domain.state.parted import PartedState


class State(PartedState, kw_only=True):
    """The state of the translation after an event."""

    echo: dict[str, Any] = field(default_factory=dict)  # of the request that started the run
    made: int = 0  # messages of this part so far; their ids are numbers
    messages: list[dict[str, Any]] = field(default_factory=list)  # messages of this part
    text: dict[str, Any] | None = None  # the open message
    pieces: list[str] = field(default_factory=list)  # its content
    unkept: list[str] = field(default_factory=list)  # ids of messages that a reset withdraws
    spare: list[str] = field(default_factory=list)  # ids of withdrawn reasoning, for the reasoning that replaces it
    calls: dict[str, str] = field(default_factory=dict)  # ids of shown tool calls by call id
    client_calls: dict[str, str] = field(default_factory=dict)  # wait ids of client tools by call id
    children: dict[str, tuple[str, str]] = field(default_factory=dict)  # open child runs and their agents by wait id
    agents_open: list[str] = field(default_factory=list)  # children that this part has shown
    result: dict[str, Any] = field(default_factory=dict)

    def is_writing(self, role: str) -> bool:
        """Return whether another piece of a message of this role only adds to the open message."""
        return self.text is not None and self.text["role"] == role

    def write_on(self, pieces: Sequence[str]) -> None:
        """Add pieces to the open message."""
        assert self.text is not None
        self.pieces += pieces
        if self.text["role"] != "reasoning":
            self.written += pieces
