"""The memory of an agent: blocks that are in every prompt, and passages that it searches.

Memory belongs to an agent and an owner: what an agent learns in one owner's conversations is separate from what it
learns in another's. The memory of an agent that is declared with `shared=True` belongs to `EVERY_OWNER`.
"""

from collections.abc import Sequence

from msgspec import Struct

EVERY_OWNER = ""  # no API key has this owner


class Block(Struct, frozen=True, kw_only=True):
    """A piece of core memory under a label, unique per agent and owner. Linked agents read a shared block too; only
    `agent` changes it."""

    id: str
    agent: str
    owner: str
    label: str
    content: str
    is_shared: bool = False
    updated_at: int


class Passage(Struct, frozen=True, kw_only=True):
    """A text that an agent stored and finds by its words. `cause` is the tool call that stored it (`run_id:call_id`),
    so that a repeated call stores nothing."""

    id: str
    agent: str
    owner: str
    content: str
    tags: Sequence[str] = ()
    created_at: int
    cause: str | None = None
