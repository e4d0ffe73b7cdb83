"""The app of the flow tests of other frameworks: the same agent in each of them. It asks the model at `MODEL_URL`.

What its tools do goes to append-only files in the test's folder. A call of `look` with a gate waits there.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import agents
import pydantic_ai
from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import runyard
from tests.support.facts_and_gates import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))
MODEL_URL = os.environ["MODEL_URL"]


async def look(what: str, gate: str = "") -> dict[str, str]:
    """Look at something."""
    if gate:
        notes.write("reached", gate, os.getpid())
        while not notes.is_open(gate):  # noqa: ASYNC110 (the gate is a file)
            await asyncio.sleep(0.005)
    return {"seen": what}


async def pay(amount: int) -> str:
    """Pay an amount."""
    notes.write("effects", "pay", str(amount), os.getpid())
    return f"paid {amount}"


_model = OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(base_url=MODEL_URL, api_key="none"))
_clerk = pydantic_ai.Agent(_model, name="pydantic_ai", instructions="Play.")
_clerk.tool_plain(look)
_clerk.tool_plain(requires_approval=True)(pay)
typed = runyard.pydantic_ai(_clerk, effects={"look": "none"})

_client = AsyncOpenAI(base_url=MODEL_URL, api_key="none")
_sdk_agent = agents.Agent[None](
    name="openai_agents",
    instructions="Play.",
    model=agents.OpenAIChatCompletionsModel("gpt-5-mini", _client),
    tools=[agents.function_tool(look), agents.function_tool(pay, needs_approval=True)],
)
sdk = runyard.openai_agents(_sdk_agent, effects={"look": "none"})
