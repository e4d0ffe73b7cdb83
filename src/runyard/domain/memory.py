"""What an agent remembers: blocks that are in every prompt, and passages that it looks up."""

from collections.abc import Sequence

from msgspec import Struct


class Block(Struct, frozen=True, kw_only=True):
    """A piece of core memory under a label, unique per agent. A shared one is also read by the agents that are linked
    to it; only its owner, `agent`, changes it."""

    id: str
    agent: str
    label: str
    content: str
    is_shared: bool = False
    updated_at: int


class Passage(Struct, frozen=True, kw_only=True):
    """Something that an agent put away, to be found by its words. `cause` is the call that stored it
    (`run_id:call_id`), so that a repeated call stores nothing."""

    id: str
    agent: str
    content: str
    tags: Sequence[str] = ()
    created_at: int
    cause: str | None = None
