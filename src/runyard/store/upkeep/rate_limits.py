"""Rate limits of tools."""

from typing import Protocol


class RateLimitStore(Protocol):
    async def take_call(self, owner: str, agent: str, tool: str, most: int, window_ms: int) -> int:
        """Count a tool call of an owner's runs of an agent and return 0 if there were fewer than `most` in the last
        `window_ms`. Otherwise count nothing and return the milliseconds until the call is allowed. Atomic across
        processes, on the database's clock."""

    async def forget_calls(self, older_than_ms: int) -> None:
        """Delete the counts whose last call is older than that."""
