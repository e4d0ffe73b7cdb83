"""What the translation of a log knows after an event. It is JSON, so a snapshot can hold it."""

from typing import Any

from msgspec import Struct, field

from runyard.domain.events import RunError
from runyard.domain.wait import ClientWait


class OpenMessage(Struct):
    """A message of the agent that is being written."""

    id: str
    node: str
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)


class State(Struct, kw_only=True):
    """What the translation knows after an event."""

    run_id: str
    agent: str = ""
    part: int = 0
    is_open: bool = False
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
    has_text: bool = False
    written: list[str] = field(default_factory=list)  # the text, in pieces
    kept: int = 0  # pieces that a reset does not withdraw
    calls: dict[str, str] = field(default_factory=dict)  # shown ids of tool calls by call id
    waits: dict[str, ClientWait] = field(default_factory=dict)  # by wait id
    others: dict[str, dict[str, Any]] = field(default_factory=dict)  # open waits for runs, times and events
    steps: dict[str, str] = field(default_factory=dict)  # names of open steps that are not turns of a model
    received: dict[str, str] = field(default_factory=dict)  # messages for this run that it has not taken
    error: RunError | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
