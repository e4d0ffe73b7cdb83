"""Token budgets of the contract, for agents whose models another framework asks."""

from collections.abc import AsyncIterator
from typing import Any

import agents
import pytest
from langgraph.graph import START, MessagesState, StateGraph
from openai import AsyncOpenAI
from pydantic_ai import Agent as PydanticAgent

import runyard
from runyard.agents.declared.loading import App
from tests.agents.frameworks.pydantic_ai_script import DONE, Script, calls
from tests.faces.contract.contract_client import sync, task_request
from tests.support.fakes.fake_chat_model import FakeChatModel
from tests.support.fakes.scripted_openai import ScriptedOpenAI, begin, call, end, scripted_openai, text
from tests.support.in_process.live_server import Serve

pytestmark = [pytest.mark.req("S2.6"), pytest.mark.parametrize("backend", ["memory"])]


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedOpenAI]:
    """It is asked five times in the test below, in this order."""
    async with scripted_openai() as server:
        first = [begin(), *text("One moment."), call(0, id="c1", name="look", arguments="{}"), *end("tool_calls")]
        last = [begin(), *text("All done."), *end()]
        for turn in (first, last, first, first, last):
            server.answer(*turn)
        yield server


def of_pydantic_ai() -> runyard.Agent:
    agent = PydanticAgent(Script(calls(("look", {}), text=["One moment."]), DONE), name="clerk")

    @agent.tool_plain
    def look() -> str:
        return "seen"

    return runyard.pydantic_ai(agent)


def of_openai_agents(provider: ScriptedOpenAI) -> runyard.Agent:
    @agents.function_tool
    def look() -> str:
        return "seen"

    client = AsyncOpenAI(base_url=provider.api_base, api_key="none", max_retries=0)
    model = agents.OpenAIChatCompletionsModel("gpt-5-mini", client)
    return runyard.openai_agents(agents.Agent(name="clerk", model=model, tools=[look]))


@pytest.mark.parametrize("framework", ["pydantic-ai", "openai-agents"])
async def test_an_agent_of_a_framework_asks_no_model_when_the_budget_is_spent(
    serve: Serve, provider: ScriptedOpenAI, framework: str
) -> None:
    agent = of_pydantic_ai() if framework == "pydantic-ai" else of_openai_agents(provider)
    server, task = await serve(App({"clerk": agent}, {}, "clerk")), task_request("clerk", inputs={"query": "x"})
    free = await sync(server, task)
    assert (free["status"], free["warnings"]) == ("ok", []), free
    assert free["outputs"]["text"].endswith("All done.")
    tight = await sync(server, {**task, "budgets": {"max_output_tokens": 1}})
    assert (tight["status"], tight["warnings"]) == ("ok", ["MAX_TOKENS_EXCEEDED"])
    assert tight["outputs"]["text"] == "One moment."
    events = await server.log(tight["provenance"]["run_id"])
    assert sum(event["type"] == "model.message" for event in events) == 1
    over = await sync(server, {**task, "budgets": {"max_output_tokens": free["usage"]["output_tokens"] - 1}})
    assert over["outputs"]["text"].endswith("All done.")
    assert over["warnings"] == ["MAX_TOKENS_EXCEEDED"], "the last answer overran the budget"


async def test_a_run_that_could_not_be_stopped_says_so(serve: Serve) -> None:
    model = FakeChatModel(turns=[{"text": ["One"]}, {"text": ["two"]}])

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"]), await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile()
    server, task = await serve(App({"clerk": runyard.langgraph("clerk", graph)}, {}, "clerk")), task_request("clerk")
    task["inputs"] = {"messages": [{"role": "user", "content": "hello"}]}
    free = await sync(server, task)
    assert (free["status"], free["warnings"]) == ("ok", []), free
    spent = free["usage"]["output_tokens"]
    assert spent > 1
    found = await sync(server, {**task, "budgets": {"max_output_tokens": spent}})
    assert found["warnings"] == []
    found = await sync(server, {**task, "budgets": {"max_output_tokens": spent - 1}})
    assert (found["status"], found["warnings"]) == ("ok", ["BUDGET_NOT_ENFORCED"])
