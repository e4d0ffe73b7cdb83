"""A whole agent over litellm and real HTTP: two turns, parallel calls, and a cancel that closes the request."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from runyard.agents.declared.agent import Agent
from runyard.agents.execution import Canceled, ModelOutput
from runyard.agents.kinds.runners import RUNNERS
from runyard.agents.tools.tool import tool
from runyard.models.loading import load
from tests.agents.fake_execution import FakeExecution
from tests.support.eventually import PATIENCE
from tests.support.fakes.scripted_openai import ScriptedOpenAI, begin, call, end, scripted_openai, text


@pytest.fixture
async def server() -> AsyncIterator[ScriptedOpenAI]:
    load()
    async with scripted_openai() as server:
        yield server


@tool(effects="none")
async def look(where: str) -> str:
    """Look somewhere."""
    return f"seen {where}"


def thinker(server: ScriptedOpenAI) -> Agent:
    options = {"api_base": server.api_base, "api_key": "sk-test"}
    return Agent("a", model="openai/gpt-5-mini", instructions="Be kind.", tools=[look], model_options=options)


@pytest.mark.req("S1.44", "S1.55")
async def test_an_agent_asks_its_model_calls_tools_and_answers(server: ScriptedOpenAI) -> None:
    calls = [call(n, id=f"c{n}", name="look", arguments=f'{{"where": "{n}"}}') for n in (0, 1)]
    server.answer(begin(), *calls, *end("tool_calls"))
    server.answer(begin(), *text("All ", "seen."), *end())
    execution = FakeExecution(text="hi")

    output = await RUNNERS["model"](thinker(server), execution)

    assert output == ModelOutput("All seen.", stop_reason="end_turn")
    first, second = (request["messages"] for request in server.requests)
    assert first == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    assert second[:2] == first
    assert second[3:] == [
        {"role": "tool", "tool_call_id": "c0", "content": "seen 0"},
        {"role": "tool", "tool_call_id": "c1", "content": "seen 1"},
    ]
    usage = execution.fold().usage
    assert usage is not None
    assert usage.usd > 0
    assert (usage.input_tokens, usage.output_tokens) == (20, 10)


@pytest.mark.req("S1.26", "S1.39")
async def test_a_cancel_closes_the_request_to_the_provider(server: ScriptedOpenAI) -> None:
    async def took() -> float:
        server.answer(begin(), *text("He"), server.stall())
        execution = FakeExecution()
        running = asyncio.ensure_future(RUNNERS["model"](thinker(server), execution))
        await asyncio.wait_for(server.reached.wait(), PATIENCE)
        began = time.monotonic()
        execution.cancelled = True  # as the engine does it: set the flag, cancel the task
        running.cancel()
        with pytest.raises((Canceled, asyncio.CancelledError)):
            await running
        await asyncio.wait_for(server.hung_up.wait(), PATIENCE)
        return time.monotonic() - began

    assert await server.fastest(took, enough=0.2) < 0.2
