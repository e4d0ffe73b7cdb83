"""The effects of an agent's channel tools: it posts, reacts and remembers as itself, for the owner of its run."""

from collections.abc import Sequence

from runyard.domain.content.memory import Passage
from runyard.domain.runs.run import Run
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.conversations import Conversations

FOUND = 10


class AgentActions:
    """The actions of the agent of one run."""

    def __init__(self, run: Run, conversations: Conversations, agent_directory: AgentDirectory) -> None:
        self._run = run
        self._conversations = conversations
        self._agent_directory = agent_directory

    async def send(self, conversation_id: str | None, text: str, key: str, parent_id: str | None) -> str:
        run = self._run
        here = conversation_id or run.thread_id or ""
        if parent_id is None and here == run.thread_id:
            parent_id = await self._conversations.parent_of_trigger(run)
        call_id = key.removeprefix(f"{run.id}:")
        posted = await self._conversations.post_as_agent(run, here, text, call_id, parent_id or None)
        return posted.message.id

    async def react(self, message_id: str, emoji: str) -> None:
        await self._conversations.react_as_agent(self._run, message_id, emoji)

    async def update_memory(self, label: str, content: str) -> None:
        await self._agent_directory.update_memory(self._run.agent, self._run.owner, label, content)

    async def search_memory(self, query: str) -> Sequence[Passage]:
        return await self._agent_directory.search_memory(self._run.agent, self._run.owner, query, FOUND)

    async def store_memory(self, content: str, tags: Sequence[str], key: str) -> str:
        return (await self._agent_directory.store_memory(self._run.agent, self._run.owner, content, tags, key)).id
