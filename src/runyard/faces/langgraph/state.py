"""The state of the translation of a log after an event. It is JSON, so a snapshot can hold it."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from runyard.domain.state.parted import PartedState


class OpenMessage(Struct):
    """A message of the agent that is being written."""

    id: str
    node: str
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)


class State(PartedState, kw_only=True):
    """The state of the translation after an event."""

    agent: str = ""
    is_shown: bool = False  # the state at the beginning was shown
    states: int = 0  # how often the values were shown
    ended: list[str] = field(default_factory=list)  # how each finished part ended
    echo: dict[str, Any] = field(default_factory=dict)  # of the request that started the run
    earlier: list[dict[str, Any]] = field(default_factory=list)  # messages of that request before the question
    messages: list[dict[str, Any]] = field(default_factory=list)  # of the run, without the question
    text: OpenMessage | None = None
    last: str | None = None  # the id of the last message of the agent, while calls may be added to it
    last_node: str = ""
    news: list[str] = field(default_factory=list)  # ids of messages that no update has shown
    unkept: list[str] = field(default_factory=list)  # ids of messages whose text a reset withdraws
    calls: dict[str, str] = field(default_factory=dict)  # shown ids of tool calls by call id
    outputs: dict[str, Any] = field(default_factory=dict)

    def is_writing(self, *, is_reasoning: bool) -> bool:
        """Return whether another piece only adds to the open message."""
        return self.text is not None and self.is_shown and (is_reasoning or bool(self.text.text))

    def write_on(self, pieces: Sequence[str], *, is_reasoning: bool) -> None:
        """Add pieces to the open message."""
        assert self.text is not None
        if is_reasoning:
            self.text.reasoning += pieces
        else:
            self.text.text += pieces
            self.written += pieces
