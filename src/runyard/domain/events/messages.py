"""Messages that come for a run which has not ended."""

from runyard.domain.content.parts import Part
from runyard.domain.events.base import PayloadBase


class MessageReceived(PayloadBase, frozen=True):
    """A message came for a run that had not ended. It belongs to this run if a `message.taken` follows. Otherwise it
    starts the next run of the thread when this one ends. `parts` is its content, if it is not plain text."""

    type = "message.received"
    message_id: str
    text: str
    parts: list[Part] = []


class MessageTaken(PayloadBase, frozen=True):
    """The agent continues with this message. A model gets it before its next turn."""

    type = "message.taken"
    message_id: str
