"""Runs an agent in its mailbox: loads its memory and the conversation, builds the prompt and adds the channel tools.

Nothing is posted here. The model's text stays in the run's log; only its tools post messages. Feed entries are written
with their causes: the claim of the run reports that the agent is typing, and the end of the run that it is done.
"""

from collections.abc import Awaitable, Callable
from copy import copy

from msgspec.structs import replace

from runyard.agents.channels.prompt import Prompt
from runyard.agents.channels.tools import channel_tools
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.execution import ModelOutput
from runyard.domain.runs.run import Run
from runyard.engine.channels.agent_actions import AgentActions
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.conversations import Conversations
from runyard.telemetry.spans import Tracer

ORCHESTRATED = frozenset({"model", "python", "claude"})  # kinds of agents that use a prompt or tools


class Orchestrator:
    def __init__(self, agent_directory: AgentDirectory, conversations: Conversations, tracer: Tracer) -> None:
        self._tracer = tracer
        self._agent_directory = agent_directory
        self._conversations = conversations

    async def orchestrate(
        self, agent: Agent, run: Run, run_agent: Callable[[Agent], Awaitable[Output | None]]
    ) -> Output | None:
        """Load the agent's profile, its memory for the run's owner and the last messages; build the prompt and tools;
        run the agent; save the session that its next run in this conversation resumes."""
        if agent.kind not in ORCHESTRATED:
            return await run_agent(agent)
        with self._tracer.span("agent.prompt", run.id, agent=run.agent):
            profile = await self._agent_directory.load_profile(run)
            blocks = await self._agent_directory.load_blocks(profile, run.owner)
            thread, messages = await self._conversations.last_messages(run)
            prompt = self._agent_directory.build_prompt(profile, blocks, thread, messages)
        actions = AgentActions(run, self._conversations, self._agent_directory)
        session = None if agent.claude is None else await self._agent_directory.session(run)
        output = await run_agent(_in_mailbox(agent, prompt, actions, session))
        if isinstance(output, ModelOutput) and output.session_id not in (None, session):
            await self._agent_directory.save_session(run, output.session_id)
        return output


def _in_mailbox(agent: Agent, prompt: Prompt, actions: AgentActions, session: str | None) -> Agent:
    """Return the agent with its prompt and the channel tools, and without the history of earlier runs."""
    made = copy(agent)
    own = {tool.name for tool in agent.tools}
    made.tools = (*agent.tools, *(tool for tool in channel_tools(actions) if tool.name not in own))
    if agent.model_settings is not None:
        made.instructions = prompt.text
        made.model_settings = replace(agent.model_settings, history=0)
    if agent.claude is not None:
        made.instructions = prompt.text
        made.claude = replace(agent.claude, session=session)
    return made
