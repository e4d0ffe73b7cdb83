"""A server for the end-to-end tests of aegra (docs/strangers.md): `python -m tests.clients.suites.aegra_server <port>`.

Its agents have the names of aegra's example graphs, and do what the tests need of them, without a model.
"""

import asyncio
import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

import runyard

SLOW = re.compile(r"long|slow|story|another|processing|run$", re.ASCII)
PAUSE = 0.05


@runyard.agent
async def agent(ctx: runyard.Context) -> str:
    """Answer in pieces; take some seconds if the message asks for much."""
    words = ["Well, "] * 80 if SLOW.search(ctx.message.text) else ["Ahoy, ", "dear ", "guest."]
    for word in words:
        await ctx.token(word)
        await asyncio.sleep(PAUSE)  # waits on purpose: the tests cancel it meanwhile
    return "".join(words)


VERDICTS = {"response": "It was interrupted for human input.", "ignore": "It was cancelled by human operator."}


@runyard.tool(effects="none")
async def search(query: str, verdict: str) -> str:
    """Search, if a person lets it."""
    return VERDICTS.get(verdict, f"Found: {query}")


@runyard.agent(tools=[search])
async def agent_hitl(ctx: runyard.Context) -> str:
    """Ask a person before the search, and do what the person says."""
    await ctx.token("Let me see. ")
    [said] = await ctx.ask("May I search?", list[dict[str, Any]])
    query = said["args"]["args"]["search"]["query"] if said["type"] == "edit" else ctx.message.text
    await ctx.call(search, query=query, verdict=said["type"])
    return "Let me see. That is all."


# --- a graph with a graph inside that asks


class Foo(MessagesState):
    foo: str


async def ask(state: Foo) -> dict[str, Any]:
    return {"foo": f"Initial subgraph value.{interrupt('Provide value:')}"}


inner = StateGraph(Foo).add_node(ask).add_edge(START, "ask").compile()
outer = StateGraph(Foo).add_node("inner", inner).add_edge(START, "inner")


@runyard.agent
async def stress_test(ctx: runyard.Context) -> str:
    """Take as many steps as the message says, each as long as it says."""
    wanted = json.loads(ctx.message.text)
    for number in range(wanted["steps"]):
        await ctx.step(f"step {number}", asyncio.sleep, wanted["delay"])
    return json.dumps({"steps_completed": wanted["steps"], "status": "completed"})


AGENTS = {
    "agent": agent,
    "agent_hitl": agent_hitl,
    "subgraph_hitl_agent": runyard.langgraph("subgraph_hitl_agent", outer.compile()),
    "stress_test": stress_test,
}


def serve(port: int) -> None:
    with TemporaryDirectory() as folder:
        settings = runyard.Settings(database_url=f"sqlite:///{Path(folder) / 'runs.db'}", heartbeat_seconds=5)
        app = runyard.create_app(settings, runyard.App(AGENTS, default="agent"), keys=False)
        uvicorn.run(app, port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
