"""The agent events of an interaction as a fold over the log of its run, which a snapshot can hold."""

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

VERSION: Literal[1] = 1  # changes whenever `agent_event` translates an event differently
_agent_events: TypeAdapter[list[AgentEvent]] = TypeAdapter(list[AgentEvent])


class AgentEvents:
    """The agent events so far. `thoughts`: the open thinking, if the agent repeats it in whole messages."""

    def __init__(self, thoughts: Thoughts | None, events: list[AgentEvent]) -> None:
        self.events = events
        self.thoughts = thoughts

    def take(self, event: Event) -> None:
        if (found := agent_event(event, self.thoughts)) is not None:
            self.events.append(found)


class _Snapshot(Struct):
    v: Literal[1]
    events: Any
    repeats: bool
    pieces: list[str] = []
    is_sent: bool = False


_encode = msgspec.json.Encoder(enc_hook=fields).encode
_decode = msgspec.json.Decoder(_Snapshot).decode


def agent_events_fold(repeats_its_thinking: Callable[[str], bool]) -> FoldKind[AgentEvents]:
    """Return the fold. The function says whether an agent repeats its thinking in whole messages."""

    def begin(run: Run) -> AgentEvents:
        return AgentEvents(Thoughts() if repeats_its_thinking(run.agent) else None, [])

    def encoded(shown: AgentEvents) -> bytes:
        thoughts = shown.thoughts
        if thoughts is None:
            return _encode(_Snapshot(VERSION, shown.events, False))
        return _encode(_Snapshot(VERSION, shown.events, True, thoughts.pieces, thoughts.is_sent))

    def decoded(run: Run, data: bytes) -> AgentEvents:
        snapshot = _decode(data)
        if snapshot.repeats != repeats_its_thinking(run.agent):
            raise ValueError("The agent was declared in another way when this snapshot was saved.")
        thoughts = Thoughts(snapshot.pieces, snapshot.is_sent) if snapshot.repeats else None
        return AgentEvents(thoughts, _agent_events.validate_python(snapshot.events))

    return FoldKind("chats", begin, encoded, decoded)
