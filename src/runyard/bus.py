"""The bus: tells other processes that something is new, so that they need not wait for their next poll.

A hint says which run and how far, never what: whoever hears one looks into the store. Hints may be lost, doubled, late
or out of order; that costs latency only, because everybody polls as well. So a bus acknowledges nothing, keeps nothing
and never stands in anybody's way.

On the wire a message is one line of ASCII: a version, the sender, and a word per hint: the first letter of its
kind, the run id, a colon and the seq. Only what looks like an id gets onto the bus; what cannot be read is passed over.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

Kind = Literal["log", "work", "cancel", "feed"]


class Hint(Struct, frozen=True):
    """log: `run_id` is published up to `seq`. work: there may be something to claim. cancel: `run_id` is to stop.
    feed: what happens in conversations is numbered up to `seq`."""

    kind: Kind
    run_id: str = ""
    seq: int = 0


Hear = Callable[[Sequence[Hint]], None]


class Bus(Protocol):
    async def open(self, hear: Hear) -> None:
        """Connect and listen: what other processes send goes to `hear`, never what this one sends itself.

        Waits for the first connection for a short time only, and then goes on trying in the background: a bus that is
        away keeps no process from starting."""

    def send(self, hints: Sequence[Hint]) -> None:
        """Tell the others; neither waits nor raises. At once after a silence, else in the next short window, with
        hints of the same kind and run merged to the largest seq. While the bus is away, hints are dropped."""

    async def close(self) -> None:
        """Send what is left, if that can be done quickly, and hear no more."""

    @property
    def is_connected(self) -> bool:
        """Whether what is sent now has a chance to be heard."""

    @property
    def has_others(self) -> bool:
        """Whether there may be other processes; False only where it is certain that there are none."""


VERSION = "runyard1"
MAX_BYTES = 7_900  # of a message, at most one less: NOTIFY takes no more than 8,000

_LETTERS: dict[Kind, str] = {"log": "l", "work": "w", "cancel": "c", "feed": "f"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_WORD = re.compile(r"([lwcf])([A-Za-z0-9_-]{0,64}):([0-9]{1,18})")


def encode(sender: str, hints: Iterable[Hint]) -> list[str]:
    """As few messages as will hold them. `sender` is an id; a hint whose run id does not look like one is left out."""
    head = f"{VERSION} {sender}"
    messages: list[str] = []
    words, size = [head], len(head)
    for hint in hints:
        word = f"{_LETTERS[hint.kind]}{hint.run_id}:{hint.seq}"
        if not _WORD.fullmatch(word):
            continue
        if size + 1 + len(word) >= MAX_BYTES:
            messages.append(" ".join(words))
            words, size = [head], len(head)
        words.append(word)
        size += 1 + len(word)
    return [*messages, " ".join(words)] if len(words) > 1 else messages


def decode(message: str) -> tuple[str, list[Hint]]:
    """Who sent it, and the hints that can be read; none of a message that is not ours."""
    version, *rest = message.split(" ")
    if version != VERSION or not rest:
        return "", []
    sender, *words = rest
    found = [word.groups() for word in map(_WORD.fullmatch, words) if word]
    return sender, [Hint(_KINDS[letter], run_id, int(seq)) for letter, run_id, seq in found]
