"""Agents as rows, their sessions in conversations, and their memory.

Memory belongs to an agent and an owner: the owner of the conversations in which the agent learned it, or EVERY_OWNER
for an agent that is declared as shared.
"""

from collections.abc import Sequence
from typing import Protocol

from runyard.domain.content.memory import Block, Passage
from runyard.domain.content.profile import Profile


class AgentStore(Protocol):
    async def declare_agents(self, profiles: Sequence[Profile]) -> None:
        """Store a row for each agent that code declares. An existing row keeps its active flag and its memory."""

    async def create_agent(self, profile: Profile) -> Profile:
        """Store an agent and return it; Conflict if the id is taken."""

    async def get_agent(self, caller: str, agent: str) -> Profile:
        """Return an agent of the caller or one that code declares, active or not; NotFound if there is none."""

    async def find_agent(self, agent: str) -> Profile | None:
        """Look up an agent without an ownership check. For workers only."""

    async def list_agents(
        self, caller: str, after: str | None, limit: int, inactive: bool = False
    ) -> Sequence[Profile]:
        """Return the agents that the caller may use, by id. Inactive agents are included only on request."""

    async def change_agent(self, caller: str, profile: Profile) -> Profile:
        """Update an agent, except its id and owner. NotFound as for `get_agent`."""

    async def session(self, agent: str, thread_id: str) -> str | None:
        """Return the session that the agent's next run in this conversation resumes."""

    async def save_session(self, agent: str, thread_id: str, session_id: str) -> None:
        """Store that session. It is deleted with the conversation; do nothing if the conversation is deleted."""

    # --- memory

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        """Return the agent's own blocks for this owner by label, then the blocks shared with it for this owner."""

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        """Create or replace the agent's block of that owner and label. NotFound: no such agent."""

    async def drop_block(self, agent: str, owner: str, label: str) -> None:
        """Delete a block; NotFound if there is none."""

    async def link_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        """Let another agent read a block when it works for `reader_owner`. NotFound unless both exist and the block is
        shared. A block of one owner is never read for another owner, linked or not."""

    async def unlink_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        """Remove that link; do nothing if there is none."""

    async def put_passage(self, passage: Passage) -> Passage:
        """Store a passage and return it. With a known cause, return the passage stored then. NotFound: no such
        agent."""

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        """Return this agent's passages for this owner, newest first."""

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        """Return passages of this agent and owner that contain the query, ignoring case, then those that contain any
        word of it, best first."""

    async def drop_passage(self, agent: str, owner: str, passage_id: str) -> None:
        """Delete a passage; NotFound if there is none."""
