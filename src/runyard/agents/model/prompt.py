"""The messages before a run's own: the instructions and the conversations of earlier runs.

An earlier run is included whole or not at all, newest first, while there is room: at most `history` runs, and within
the tokens that one request may have. Tokens are estimated from the length of the JSON.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.execution import Execution

LETTERS_PER_TOKEN = 4
MOST_TOKENS = 100_000  # of a request, if the agent sets no limit


def estimate_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    return len(msgspec.json.encode(messages)) // LETTERS_PER_TOKEN


async def messages_before(
    agent: Agent, model_settings: ModelSettings, execution: Execution, own: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """Return the messages that come before the run's `own` messages. Both share the token limit."""
    options = execution.state.options
    told = [agent.instructions, None if options is None else options.instructions]
    instructions = "\n\n".join(each for each in told if each)
    system = [{"role": "system", "content": instructions}] if instructions else []
    room = (model_settings.max_context_tokens or MOST_TOKENS) - estimate_tokens([*system, *own])
    earlier: list[list[dict[str, Any]]] = []
    if model_settings.history:
        async for conversation in execution.earlier_runs(model_settings.history):
            room -= estimate_tokens(conversation)
            if room < 0:
                break
            earlier.append(conversation)
    return [*system, *(message for conversation in reversed(earlier) for message in conversation)]


def tool_definitions(agent: Agent) -> list[dict[str, Any]]:
    """Return the agent's tools in the format of OpenAI's function calling."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in agent.tools
    ]
