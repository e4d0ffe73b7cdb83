"""Summaries of a conversation that is too long for its model. Pure.

A summary is the result of a step in the log of the run that needed it. It covers everything on the branch up to a place
that it names by distance, so a copy of the log (a fork) means the same. The next runs find it when they walk back.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from runyard.domain.state.run_state import State

SUMMARIZE = "summarize"  # the name of the step


class Summary(Struct, frozen=True):
    """A summary of everything up to a place. `back` is the distance of the last run that it covers: 1 is the run before
    the one that made the summary. 0 is that run itself, of which it covers the first `messages`."""

    text: str
    back: int
    messages: int = 0


class EarlierRun(Struct, frozen=True):
    """The messages of an earlier run. `is_over`: it is beyond the characters of history that an agent may get."""

    back: int
    messages: list[dict[str, Any]]
    is_over: bool = False


class Memory(Struct, frozen=True):
    """The memory of a run's branch: a summary, and the runs that it does not cover, newest first."""

    summary: str | None = None
    runs: Sequence[EarlierRun] = ()


def last_summary(state: State) -> Summary | None:
    """Return the newest summary in this log, or None."""
    for step in reversed(state.steps):
        if step.name == SUMMARIZE and step.finished and step.error is None:
            return msgspec.convert(step.result, Summary)
    return None


def summary_message(text: str) -> dict[str, Any]:
    """Return the summary as the model reads it. It is a user's message, because users wrote what it is made of."""
    return {"role": "user", "content": f"Summary of the conversation so far, made because it is long:\n{text}"}
