"""The stored profile of an agent, whether code declares it or a person created it: identity, persona and limits."""

from msgspec import Struct


class Profile(Struct, frozen=True, kw_only=True):
    """An agent. Without an `owner` it is declared in code, and every owner can use it. Messages do not wake an inactive
    agent; its runs stay."""

    id: str
    owner: str | None = None
    display_name: str
    title: str = ""
    avatar_color: str | None = None
    persona: str = ""
    model: str | None = None
    max_turns: int = 5
    max_usd: float = 0.10
    is_active: bool = True
    created_at: int
    updated_at: int
