"""The app of the flow tests of other frameworks: the same agent in each of them. It asks the model at `MODEL_URL`.

The agent of pydantic-ai also has a tool that the client calls, and the tools of the MCP server at `MCP_URL`.

What its tools do goes to append-only files in the test's folder. A call of `look` with a gate waits there.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import agents
import httpx
import pydantic_ai
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ExternalToolset

import runyard
from tests.support.scenario.facts_and_gates import FOLDER, Notes

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


_http = httpx.AsyncClient(verify=False)  # certificates would cost a tenth of a second in every process
_client = AsyncOpenAI(base_url=MODEL_URL, api_key="none", http_client=_http)
_model = OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(openai_client=_client))
_elsewhere: list[AbstractToolset[None]] = [
    ExternalToolset([ToolDefinition(name="locate", parameters_json_schema={"type": "object", "properties": {}})])
]
if "MCP_URL" in os.environ:
    _elsewhere.append(MCPToolset(os.environ["MCP_URL"]))
_clerk = pydantic_ai.Agent(_model, name="pydantic_ai", instructions="Play.", toolsets=_elsewhere)
_clerk.tool_plain(look)
_clerk.tool_plain(requires_approval=True)(pay)
typed = runyard.pydantic_ai(_clerk, effects={"look": "none"})

_sdk_model = agents.OpenAIChatCompletionsModel("gpt-5-mini", _client)
_sdk_agent = agents.Agent[None](
    name="openai_agents",
    instructions="Play.",
    model=_sdk_model,
    tools=[agents.function_tool(look), agents.function_tool(pay, needs_approval=True)],
    handoffs=[agents.Agent[None](name="closer", instructions="Close.", model=_sdk_model)],
)
locate = runyard.client_tool("locate", "Return the city.", answer={"type": "string"})
sdk = runyard.openai_agents(_sdk_agent, tools=[locate], effects={"look": "none"})

_tools = [
    runyard.langchain_tool(runyard.tool(effects="none")(look)),
    runyard.langchain_tool(runyard.tool(effects="once", approval="always")(pay)),
]
_chat = ChatOpenAI(
    model_name="gpt-5-mini",
    openai_api_base=MODEL_URL,
    openai_api_key=SecretStr("none"),
    stream_usage=True,
    http_async_client=_http,
).bind_tools(_tools)


class RatedState(MessagesState):
    stars: int


async def _agent(state: RatedState) -> dict[str, Any]:
    return {"messages": [await _chat.ainvoke(state["messages"])]}


def _rate(state: RatedState) -> dict[str, Any]:
    return {"stars": interrupt("How many stars?", response_schema={"type": "integer"})}


def _after_agent(state: RatedState) -> str:
    """Ask for stars at the end if the user's message contains a call of `pay`."""
    last = state["messages"][-1]
    if getattr(last, "tool_calls", None):
        return "tools"
    return "rate" if '"pay"' in str([each.content for each in state["messages"] if each.type == "human"][-1]) else END


_graph = StateGraph(RatedState).add_node("agent", _agent).add_node("tools", ToolNode(_tools)).add_node("rate", _rate)
_graph.add_edge(START, "agent").add_conditional_edges("agent", _after_agent, ["tools", "rate", END])
_graph.add_edge("tools", "agent").add_edge("rate", END)
graph = runyard.langgraph("langgraph", _graph.compile())
