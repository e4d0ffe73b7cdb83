"""Read a finished stream strictly and report every framing mistake.

Standard library only, like the rest of the checker.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from runyard.errors import Invalid


@dataclass(frozen=True)
class Event:
    """One event: its name, and its data lines joined by newlines."""

    name: str
    data: str

    @property
    def json(self) -> Any:
        """The decoded data. Raises Invalid, without the text, if it is not JSON."""
        try:
            return json.loads(self.data)
        except ValueError:
            raise Invalid("The data of an event is not JSON.") from None


@dataclass
class Transcript:
    """The events of a stream, and its framing mistakes in words."""

    events: list[Event] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read(body: bytes) -> Transcript:
    """Return the events of a stream and the mistakes in their framing."""
    found = Transcript()
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        found.problems.append("the stream is not UTF-8")
        return found
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    block: list[str] = []
    for line in lines[:-1]:
        if line:
            block.append(line)
        else:
            _end(found, block)
            block = []
    if block or lines[-1]:
        found.problems.append("the last event does not end with an empty line")
    return found


def _end(found: Transcript, block: list[str]) -> None:
    fields = [line.partition(":") for line in block if not line.startswith(":")]
    values = [(name, value.removeprefix(" ")) for name, _, value in fields]
    names = [value for name, value in values if name == "event"]
    data = [value for name, value in values if name == "data"]
    if not names and not data:
        return  # a comment, an id or a retry time
    if not names or not names[-1]:
        found.problems.append(f"event {len(found.events) + 1} has no event line")
    elif not data:
        found.problems.append(f"event {len(found.events) + 1} has no data line")
    found.events.append(Event(names[-1] if names else "", "\n".join(data)))
