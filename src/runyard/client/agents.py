"""The calls of the client about agents and their memory."""

from collections.abc import AsyncGenerator

from runyard.client.connection import Connection, given, segment
from runyard.client.pages import PAGE
from runyard.client.wire import AgentInfo, BlockInfo, Page, PassageInfo, read


class AgentCalls:
    """The part of `Client` that lists agents, and reads and deletes what they remember."""

    _connection: Connection

    async def agent_names(self) -> list[str]:
        """Return the names of the agents that the server runs and that answer messages.

        Example:
            >>> "greeter" in await client.agent_names()
            True
        """
        return [str(row["id"]) for row in read(await self._connection.send("GET", "/v1/models"), Page).data]

    async def agents(self, *, inactive: bool = False) -> AsyncGenerator[AgentInfo, None]:
        """Return the agents that the caller can use, by id.

        Args:
            inactive: Whether to include agents that no message wakes.

        Example:
            >>> "greeter" in [agent.id async for agent in client.agents()]
            True
        """
        after: str | None = None
        while True:
            params = given({"after": after, "limit": PAGE, "inactive": "true" if inactive else None})
            page = read(await self._connection.send("GET", "/api/agents", params=params), Page)
            for agent in page.agents:
                yield agent
            after = page.next
            if after is None:
                return

    async def agent(self, agent_id: str) -> AgentInfo:
        """Return an agent.

        Args:
            agent_id: The id of the agent.

        Example:
            >>> (await client.agent("greeter")).is_declared
            True
        """
        return read(await self._connection.send("GET", f"/api/agents/{segment(agent_id)}"), AgentInfo)

    async def deactivate_agent(self, agent_id: str) -> None:
        """Deactivate an agent: messages no longer wake it. Its messages, runs and memory stay.

        Args:
            agent_id: The id of the agent.

        Raises:
            ScopeMissing: If code declares the agent and the key lacks the scope `operate`.

        Example:
            >>> await client.deactivate_agent(agent_id)
        """
        await self._connection.send("DELETE", f"/api/agents/{segment(agent_id)}")

    async def memory_blocks(self, agent_id: str) -> list[BlockInfo]:
        """Return the memory blocks in an agent's prompt.

        Args:
            agent_id: The id of the agent.

        Example:
            >>> [block.label for block in await client.memory_blocks(agent_id)]
            ['customer']
        """
        return read(await self._connection.send("GET", f"/api/agents/{segment(agent_id)}/memory"), Page).blocks

    async def passages(
        self, agent_id: str, query: str | None = None, limit: int = PAGE, before: str | None = None
    ) -> list[PassageInfo]:
        """Return the passages that an agent stored, newest first.

        Args:
            agent_id: The id of the agent.
            query: Only passages with these words, the best match first.
            limit: The largest number of passages.
            before: Without a query: only passages that are older than the one with this id.

        Example:
            >>> [passage.content for passage in await client.passages(agent_id, "tea")]
            ['Ada likes tea.']
        """
        path = f"/api/agents/{segment(agent_id)}/passages"
        params = given({"query": query, "limit": limit, "before": before})
        return read(await self._connection.send("GET", path, params=params), Page).passages

    async def delete_block(self, agent_id: str, label: str) -> None:
        """Delete a memory block.

        Args:
            agent_id: The id of the agent that the block belongs to.
            label: The label of the block.

        Example:
            >>> await client.delete_block(agent_id, "customer")
        """
        path = f"/api/agents/{segment(agent_id)}/memory/{segment(label)}"
        await self._connection.send("DELETE", path, repeatable=False)

    async def delete_passage(self, agent_id: str, passage_id: str) -> None:
        """Delete a passage.

        Args:
            agent_id: The id of the agent.
            passage_id: The id of the passage.

        Example:
            >>> for passage in await client.passages(agent_id):
            ...     await client.delete_passage(agent_id, passage.id)
        """
        path = f"/api/agents/{segment(agent_id)}/passages/{segment(passage_id)}"
        await self._connection.send("DELETE", path, repeatable=False)
