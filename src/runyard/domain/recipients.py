"""Whom a message wakes: the rule of conversations, as a pure function.

A channel's message is for every agent in it, a DM's for the other side, a reply's for whoever has spoken in that thread
before. Nobody is woken by their own words, and no person ever is: only agents that are active, each once, in the order
in which they joined (or spoke).

What an agent says in a channel is for everybody to read and wakes nobody; in a DM it wakes the other side, until the
chain of runs that one message of a person set off is `MAX_CHAIN_DEPTH` deep.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from msgspec import Struct

MAX_CHAIN_DEPTH = 3  # of the deepest run: one of that depth wakes nobody
PartyKind = Literal["user", "agent"]


class Party(Struct, frozen=True):
    """Who takes part in a conversation: a person or an agent, by an id of its own."""

    id: str
    kind: PartyKind = "agent"


class Audience(Struct, frozen=True, kw_only=True):
    """A conversation at the moment something is said in it.

    `spoken`: if it is a reply, who said the message that it answers, and then everybody who replied before, in order.
    `active`: the ids of agents that may be woken."""

    kind: Literal["channel", "dm"]
    is_private: bool
    members: Sequence[Party]
    active: Collection[str]
    spoken: Sequence[Party] | None = None


def recipients(sender: Party, audience: Audience, depth: int | None = None) -> list[str]:
    """The agents that this message wakes, in the order in which they are to run.

    `depth` is that of the run in which an agent speaks; None for a person."""
    if sender.kind == "agent" and (audience.kind == "channel" or next_depth(depth) > MAX_CHAIN_DEPTH):
        return []
    agents = [party.id for party in _addressed(audience) if party.kind == "agent" and party != sender]
    return [agent for agent in dict.fromkeys(agents) if agent in audience.active]


def next_depth(depth: int | None) -> int:
    """How deep the runs are that a message starts: 0 if a person said it, else one more than the run that did."""
    return 0 if depth is None else depth + 1


def _addressed(audience: Audience) -> Iterable[Party]:
    if audience.spoken is None:
        return audience.members
    if audience.kind == "dm" or audience.is_private:
        return [party for party in audience.spoken if party in audience.members]
    return audience.spoken
