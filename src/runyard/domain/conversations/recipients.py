"""The agents that a message wakes, as a pure function.

A message in a channel wakes every agent in it, a DM the other side, and a reply the agents that posted in that thread
before. Only active agents are woken, never the sender, each once, in the order in which they joined (or posted).

An agent's message in a channel wakes no agent. In a DM it wakes the other side, until the chain of runs that started
with one message of a person is `MAX_CHAIN_DEPTH` deep.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from msgspec import Struct

MAX_CHAIN_DEPTH = 3  # a run of this depth wakes no agent
ParticipantKind = Literal["user", "agent"]


class Participant(Struct, frozen=True):
    """A participant of a conversation: a person or an agent, by its id."""

    id: str
    kind: ParticipantKind = "agent"


class Audience(Struct, frozen=True, kw_only=True):
    """A conversation at the moment when a message is posted.

    `spoken`: for a reply, the sender of the parent message and then of the earlier replies, in order. `active`: the ids
    of agents that may be woken."""

    kind: Literal["channel", "dm"]
    is_private: bool
    members: Sequence[Participant]
    active: Collection[str]
    spoken: Sequence[Participant] | None = None


def recipients(sender: Participant, audience: Audience, depth: int | None = None) -> list[str]:
    """Return the agents that this message wakes, in the order of their runs.

    `depth` is the depth of the run in which an agent posts; None for a person."""
    if sender.kind == "agent" and (audience.kind == "channel" or next_depth(depth) > MAX_CHAIN_DEPTH):
        return []
    agents = [party.id for party in _addressed(audience) if party.kind == "agent" and party != sender]
    return [agent for agent in dict.fromkeys(agents) if agent in audience.active]


def next_depth(depth: int | None) -> int:
    """Return the depth of the runs that a message starts: 0 for a person's message, else one more than the posting
    run."""
    return 0 if depth is None else depth + 1


def _addressed(audience: Audience) -> Iterable[Participant]:
    if audience.spoken is None:
        return audience.members
    if audience.kind == "dm" or audience.is_private:
        return [party for party in audience.spoken if party in audience.members]
    return audience.spoken
