"""What the translation of a log knows after an event. It is JSON, so a snapshot can hold it."""

from typing import Any

from msgspec import Struct, field

from runyard.domain import wait
from runyard.domain.events import RunError


class ClientWait(wait.ClientWait, kw_only=True):
    """A wait that the client may answer. `call`: the id of the tool call that shows it, once it is shown."""

    call: str | None = None
    is_shown: bool = False


class State(Struct, kw_only=True):
    """What the translation knows after an event."""

    run_id: str
    part: int = 0
    is_open: bool = False
    echo: dict[str, Any] = field(default_factory=dict)  # of the request that started the run
    made: int = 0  # messages of this part so far; their ids are numbers
    messages: list[dict[str, Any]] = field(default_factory=list)  # messages of this part
    text: dict[str, Any] | None = None  # the open message
    pieces: list[str] = field(default_factory=list)  # its content
    unkept: list[str] = field(default_factory=list)  # ids of messages that a reset withdraws
    spare: list[str] = field(default_factory=list)  # ids of withdrawn reasoning, for the reasoning that replaces it
    has_text: bool = False
    written: list[str] = field(default_factory=list)  # the text, in pieces
    kept: int = 0  # pieces that a reset does not withdraw
    calls: dict[str, str] = field(default_factory=dict)  # ids of shown tool calls by call id
    waits: dict[str, ClientWait] = field(default_factory=dict)  # by wait id
    client_calls: dict[str, str] = field(default_factory=dict)  # wait ids of client tools by call id
    others: dict[str, dict[str, Any]] = field(default_factory=dict)  # open waits for times and events
    children: dict[str, tuple[str, str]] = field(default_factory=dict)  # open child runs and their agents by wait id
    agents_open: list[str] = field(default_factory=list)  # children that this part has shown
    steps: dict[str, str] = field(default_factory=dict)  # shown names of the agent's open steps
    received: dict[str, str] = field(default_factory=dict)  # messages for this run that it has not taken
    error: RunError | None = None
    result: dict[str, Any] = field(default_factory=dict)
