"""An agent's run in its mailbox, from what it knows to what it did.

Nothing here says anything in a conversation: what the model writes stays in the run's log, and only its tools are
heard. What comes before and after is in the same commits as its cause: the claim of the run tells the feed that the
agent is typing; what the model says and calls is on record as it ends; and the end of the run, however it ends, sets
status, stop reason and usage and tells the feed that the agent is done.
"""

from collections.abc import Awaitable, Callable
from copy import copy

from msgspec.structs import replace

from runyard.agents.channels.prompt import Prompt
from runyard.agents.channels.tools import channel_tools
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.execution import ModelOutput
from runyard.domain.run import Run
from runyard.engine.channels.agent_actions import AgentActions
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.conversations import Conversations
from runyard.telemetry.spans import Tracer

ORCHESTRATED = frozenset({"model", "python", "claude"})  # kinds of agents that a prompt and tools mean something to


class Orchestrator:
    def __init__(self, agent_directory: AgentDirectory, conversations: Conversations, tracer: Tracer) -> None:
        self._tracer = tracer
        self._agent_directory = agent_directory
        self._conversations = conversations

    async def work(self, agent: Agent, run: Run, think: Callable[[Agent], Awaitable[Output | None]]) -> Output | None:
        """Load the agent, its blocks for the owner of the run, and the last messages; build its prompt and its tools;
        let it think; store where its next run in this conversation goes on."""
        if agent.kind not in ORCHESTRATED:
            return await think(agent)
        with self._tracer.span("agent.prompt", run.id, agent=run.agent):
            profile = await self._agent_directory.loaded(run)
            blocks = await self._agent_directory.loaded_blocks(profile, run.owner)
            said = await self._conversations.last_messages(run)
            prompt = self._agent_directory.built_prompt(profile, blocks, *said)
        desk = AgentActions(run, self._conversations, self._agent_directory)
        session = None if agent.claude is None else await self._agent_directory.session(run)
        output = await think(_seated(agent, prompt, desk, session))
        if isinstance(output, ModelOutput) and output.session_id not in (None, session):
            await self._agent_directory.keep_session(run, output.session_id)
        return output


def _seated(agent: Agent, prompt: Prompt, desk: AgentActions, session: str | None) -> Agent:
    """The agent as it works here: no run of another conversation is told to it."""
    seated = copy(agent)
    own = {tool.name for tool in agent.tools}
    seated.tools = (*agent.tools, *(tool for tool in channel_tools(desk) if tool.name not in own))
    if agent.model_settings is not None:
        seated.instructions = prompt.text
        seated.model_settings = replace(agent.model_settings, history=0)
    if agent.claude is not None:
        seated.instructions = prompt.text
        seated.claude = replace(agent.claude, session=session)
    return seated
