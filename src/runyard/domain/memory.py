"""What an agent remembers: blocks that are in every prompt, and passages that it looks up.

Memory belongs to an agent and an owner. An agent remembers what happened in the conversations of one owner apart from
what happened in those of another. The memory of an agent that is declared with `shared=True` belongs to `EVERY_OWNER`.
"""

from collections.abc import Sequence

from msgspec import Struct

EVERY_OWNER = ""  # no owner of an API key is called so


class Block(Struct, frozen=True, kw_only=True):
    """A piece of core memory under a label, unique per agent and owner. A shared one is also read by the agents that
    are linked to it; only `agent` changes it."""

    id: str
    agent: str
    owner: str
    label: str
    content: str
    is_shared: bool = False
    updated_at: int


class Passage(Struct, frozen=True, kw_only=True):
    """Something that an agent put away, to be found by its words. `cause` is the call that stored it
    (`run_id:call_id`), so that a repeated call stores nothing."""

    id: str
    agent: str
    owner: str
    content: str
    tags: Sequence[str] = ()
    created_at: int
    cause: str | None = None
