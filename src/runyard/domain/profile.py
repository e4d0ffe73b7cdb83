"""What is kept of an agent: who it is and what it may spend, whether code declares it or somebody made it."""

from msgspec import Struct


class Profile(Struct, frozen=True, kw_only=True):
    """Without an `owner` the agent is declared in code, and every owner can use it. One that is not active is woken by
    no message; what it did stays."""

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
