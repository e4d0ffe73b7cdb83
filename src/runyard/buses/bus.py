"""The bus: sends hints to other processes, so that they need not wait for their next poll.

A hint has a run and a seq, never content: its receiver reads the store. Hints may be lost, duplicated, late or out of
order. That costs only latency, because every process polls too. So a bus acknowledges nothing, stores nothing and never
blocks a sender.

A message on the wire is one line of ASCII: a version, the sender, and a word per hint: the first letter of its kind,
the run id, a colon and the seq. Only valid ids are sent, and unreadable words are ignored. A message without words
announces its sender.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

Kind = Literal["log", "work", "cancel", "feed", "thread"]


class Hint(Struct, frozen=True):
    """A hint. log: `run_id` is published up to `seq`. work: there may be a run to claim. cancel: `run_id` has a cancel
    request. feed: the feed is numbered up to `seq`. thread: the thread `run_id` has a new run."""

    kind: Kind
    run_id: str = ""
    seq: int = 0


OnHints = Callable[[Sequence[Hint]], None]


class Bus(Protocol):
    async def open(self, on_hints: OnHints) -> None:
        """Connect and pass the hints of other processes, never our own, to `on_hints`.

        Wait only a short time for the first connection and then retry in the background: an unavailable broker does not
        keep a process from starting."""

    def send(self, hints: Sequence[Hint]) -> None:
        """Send hints without waiting or raising: immediately after a pause, else in the next short window, with hints
        of the same kind and run merged to the largest seq. Hints are dropped while the bus is disconnected, and while
        there is no other process."""

    async def close(self) -> None:
        """Send pending hints, if that is quick, and disconnect."""

    @property
    def is_connected(self) -> bool:
        """Return whether the bus is connected."""

    @property
    def has_others(self) -> bool:
        """Return whether there may be other processes. False after some seconds in which none announced itself."""


VERSION = "runyard1"
MAX_BYTES = 7_900  # a message is shorter than this: NOTIFY takes at most 8,000 bytes

_LETTERS: dict[Kind, str] = {"log": "l", "work": "w", "cancel": "c", "feed": "f", "thread": "t"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_WORD = re.compile(r"([lwcft])([A-Za-z0-9_-]{0,64}):([0-9]{1,18})")


def encode(sender: str, hints: Iterable[Hint]) -> list[str]:
    """Return as few messages as possible for these hints. `sender` is an id. Hints with an invalid run id are left
    out."""
    head = announcement(sender)
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


def announcement(sender: str) -> str:
    """Return the message that says that a process is there. `sender` is an id."""
    return f"{VERSION} {sender}"


def decode(message: str) -> tuple[str, list[Hint]]:
    """Return the sender and the readable hints. A message of another program has no sender."""
    version, *rest = message.split(" ")
    if version != VERSION or not rest:
        return "", []
    sender, *words = rest
    found = [word.groups() for word in map(_WORD.fullmatch, words) if word]
    return sender, [Hint(_KINDS[letter], run_id, int(seq)) for letter, run_id, seq in found]
