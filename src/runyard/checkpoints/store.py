"""The interface of a checkpoint store."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from runyard.faces.chats.wire import AgentState, Chat, Interaction

IsGone = Callable[[str], Awaitable[bool]]  # tells whether the interaction with that id was deleted


class InteractionStore(Protocol):
    """Stores checkpoints of interactions (S1.38). A missing interaction or chat raises NotFound."""

    async def save_interaction(self, chat_id: str, interaction: Interaction) -> None:
        """Save an interaction with its final state; replaces an earlier copy."""

    async def load_interaction(self, chat_id: str, interaction_id: str) -> Interaction:
        """Load an interaction with its complete final state."""

    async def load_chat(self, chat_id: str) -> Chat:
        """Load all interactions of a chat, in the order in which they began. Most final states hold only the part that
        the interaction added."""

    async def get_previous_state(self, chat_id: str, interaction_id: str) -> AgentState | None:
        """Return the state that an interaction started from, or None for the first."""

    async def forget(self, chat_id: str, is_gone: IsGone) -> None:
        """Remove the copies of deleted interactions, and the chat if none is left."""
