"""The state of the translation of a log after an event. It is JSON, so a snapshot can hold it."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from runyard.domain.events import Usage
from runyard.domain.state.parted import LogState


class OpenText(Struct):
    """A message or reasoning item that is being written."""

    kind: str
    id: str
    index: int
    text: list[str] = field(default_factory=list)


class Handed(Struct):
    """A tool call of the client. `part`: the response that handed it out, 0 if none has yet."""

    name: str
    arguments: str
    part: int = 0
    output: str | None = None


class State(LogState, kw_only=True):
    """The state of the translation after an event. Snapshots hold it. The text is that of all responses."""

    ended: list[dict[str, Any]] = field(default_factory=list)  # the finished responses
    base: dict[str, Any] = field(default_factory=dict)  # the fields that every response of the run has
    echo: dict[str, Any] = field(default_factory=dict)
    created_at: int = 0
    status: str = "in_progress"
    sequence: int = 0
    added: int = 0  # items of this response so far
    text: OpenText | None = None
    unkept: list[int] = field(default_factory=list)  # items that a reset withdraws
    items: dict[int, dict[str, Any]] = field(default_factory=dict)  # items of this response by index
    calls: dict[str, int] = field(default_factory=dict)  # open calls of the server, by call id
    inputs: dict[str, Any] = field(default_factory=dict)  # of calls that have not ended, by call id
    is_silent: bool = True  # this response has no text yet
    is_replaced: bool = False  # the answer was not the text that had been written
    waits: dict[str, dict[str, Any]] = field(default_factory=dict)  # open waits for people
    client_calls: dict[str, str] = field(default_factory=dict)  # wait ids by call id
    handed: dict[str, Handed] = field(default_factory=dict)  # calls of the client by wait id
    usage: Usage = Usage()
    reported: Usage = Usage()  # by earlier responses
    spent_by: set[str] = field(default_factory=set)  # steps whose usage a message has reported
    sources: list[str] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)

    def is_writing(self, kind: str) -> bool:
        """Return whether another piece of this kind only adds to the open text."""
        return self.text is not None and self.text.kind == kind and self.status == "in_progress"

    def write_on(self, pieces: Sequence[str]) -> None:
        """Add pieces to the open text."""
        assert self.text is not None
        self.text.text += pieces
        self.sequence += len(pieces)
        if self.text.kind == "message":
            self.written += pieces
