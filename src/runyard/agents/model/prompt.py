"""What a model is told before it says its first word: the instructions, what was said before, the question.

Earlier runs are told whole or not at all, the newest first, as long as they fit: at most so many, and within the tokens
that one question may have. Tokens are guessed from the length of the JSON: nobody asks a tokenizer for a limit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.execution import Execution

LETTERS_PER_TOKEN = 4
MOST_TOKENS = 100_000  # of history, where the agent names no limit


def guessed_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    return len(msgspec.json.encode(messages)) // LETTERS_PER_TOKEN


async def opening(
    agent: Agent, model_settings: ModelSettings, execution: Execution, own: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """All that comes before the run's `own` messages, which take up room as well."""
    system = [{"role": "system", "content": agent.instructions}] if agent.instructions else []
    room = (model_settings.max_context_tokens or MOST_TOKENS) - guessed_tokens([*system, *own])
    earlier: list[list[dict[str, Any]]] = []
    if model_settings.history:
        async for conversation in execution.past(model_settings.history):
            room -= guessed_tokens(conversation)
            if room < 0:
                break
            earlier.append(conversation)
    return [*system, *(message for conversation in reversed(earlier) for message in conversation)]


def described(agent: Agent) -> list[dict[str, Any]]:
    """The agent's tools as models want them described."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in agent.tools
    ]
