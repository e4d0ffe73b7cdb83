"""The agent events of an interaction as a fold over the log of its run, which can be kept as a snapshot."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import TypeAdapter

from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.engine.log.snapshots import FoldKind
from runyard.faces.chats.translate import Thoughts, agent_event
from runyard.faces.chats.wire import AgentEvent
from runyard.web.responses import fields

VERSION: Literal[1] = 1  # changes whenever `agent_event` makes something else of an event
_agent_events: TypeAdapter[list[AgentEvent]] = TypeAdapter(list[AgentEvent])


class Told:
    """`thoughts`: of an agent that repeats its thinking in whole messages."""

    def __init__(self, thoughts: Thoughts | None, events: list[AgentEvent]) -> None:
        self.events = events
        self.thoughts = thoughts

    def take(self, event: Event) -> None:
        if (told := agent_event(event, self.thoughts)) is not None:
            self.events.append(told)


class _Kept(Struct):
    v: Literal[1]
    events: Any
    repeats: bool
    pieces: list[str] = []
    is_sent: bool = False


_encode = msgspec.json.Encoder(enc_hook=fields).encode
_decode = msgspec.json.Decoder(_Kept).decode


def told_by(repeats_its_thinking: Callable[[str], bool]) -> FoldKind[Told]:
    """Return the fold for runs of agents of which this function says whether they repeat their thinking."""

    def begin(run: Run) -> Told:
        return Told(Thoughts() if repeats_its_thinking(run.agent) else None, [])

    def encoded(told: Told) -> bytes:
        thoughts = told.thoughts
        if thoughts is None:
            return _encode(_Kept(VERSION, told.events, False))
        return _encode(_Kept(VERSION, told.events, True, thoughts.pieces, thoughts.is_sent))

    def decoded(run: Run, data: bytes) -> Told:
        kept = _decode(data)
        if kept.repeats != repeats_its_thinking(run.agent):
            raise ValueError("The agent was declared in another way when this was kept.")
        thoughts = Thoughts(kept.pieces, kept.is_sent) if kept.repeats else None
        return Told(thoughts, _agent_events.validate_python(kept.events))

    return FoldKind("chats", begin, encoded, decoded)
