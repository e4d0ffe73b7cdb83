"""Graphs of LangGraph for tests. Their models are fake; their nodes and tools report to `happened`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

import runyard
from tests.support.fakes.fake_chat_model import FakeChatModel

Happened = Callable[..., None]
TURNS: list[dict[str, Any]] = [
    {"text": ["Let me ", "look. "], "calls": [("c1", "pay", {"what": "it"})], "usage": (10, 3)},
    {"text": ["It is ", "paid."], "usage": (20, 2)},
]
# What a run of `trip` shows, and the answers to its questions.
TRIP = "Let me look. \n\nIt is paid.\n\nRow 7, Oslo.\n\nChecked: True, soon."
ANSWERS = {"Which row?": 7, "Which city?": "Oslo", "Correct?": True, "When?": "soon"}
QUESTIONS = {"type": "integer"}


def pay_tool(happened: Happened, approval: Any = "never", effects: Any = "once") -> Any:
    @runyard.tool(effects=effects, approval=approval)
    async def pay(what: str, idempotency_key: str = "") -> dict[str, str]:
        "Pay for something."
        happened("pay", idempotency_key)
        return {"done": what}

    return pay


class TripState(MessagesState):
    row: int
    city: str


def trip(happened: Happened, approval: Any = "never") -> Any:
    """A graph with a model that calls a tool, two questions at once, and a graph inside it with two questions in one
    node, one after the other."""

    async def agent(state: TripState) -> dict[str, Any]:
        happened("agent")
        get_stream_writer()({"turn": len(state["messages"])})
        return {"messages": [await FakeChatModel(turns=TURNS).ainvoke(state["messages"])]}

    def row(state: TripState) -> dict[str, Any]:
        happened("row")
        return {"row": interrupt("Which row?", response_schema=QUESTIONS)}

    async def city(state: TripState) -> dict[str, Any]:
        happened("city")
        return {"city": interrupt({"question": "Which city?", "schema": {"type": "string"}})}

    async def tell(state: TripState) -> dict[str, Any]:
        happened("tell")
        return {"messages": [AIMessage(f"Row {state['row']}, {state['city']}.")]}

    async def ask(state: MessagesState) -> dict[str, Any]:
        happened("ask")
        correct = interrupt("Correct?")
        when = interrupt({"question": "When?"})
        return {"messages": [AIMessage(f"Checked: {correct}, {when}.")]}

    async def think(state: MessagesState) -> None:
        await asyncio.sleep(0)
        happened("think")

    inner = StateGraph(MessagesState).add_node(think).add_node(ask)
    inner.add_edge(START, "think").add_edge("think", "ask")

    def after_agent(state: TripState) -> list[str]:
        return ["tools"] if getattr(state["messages"][-1], "tool_calls", None) else ["row", "city"]

    graph = StateGraph(TripState).add_node(agent).add_node(row).add_node(city).add_node(tell)
    graph.add_node("tools", ToolNode([runyard.langchain_tool(pay_tool(happened, approval))]))
    graph.add_node("check", inner.compile())
    graph.add_edge(START, "agent").add_conditional_edges("agent", after_agent, ["tools", "row", "city"])
    graph.add_edge("tools", "agent").add_edge(["row", "city"], "tell").add_edge("tell", "check").add_edge("check", END)
    return graph.compile()


def react(pay: Any) -> Any:
    """A model that calls a tool and then answers."""

    async def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await FakeChatModel(turns=TURNS).ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node(agent).add_node("tools", ToolNode([runyard.langchain_tool(pay)]))
    graph.add_edge(START, "agent").add_conditional_edges("agent", tools_condition).add_edge("tools", "agent")
    return graph.compile()


def in_our_loop(name: str, pay: Any) -> runyard.Agent:
    """The agent of `react` in the loop of Runyard, with the same turns."""
    turns = [
        {"text": turn["text"], "calls": [{"tool": name, "input": given} for _, name, given in turn.get("calls", ())]}
        for turn in TURNS
    ]
    return runyard.Agent(name, model="scripted", turns=turns, tools=[pay])


def without_numbers(stream: bytes) -> bytes:
    """A stream with its ids, which are numbers of the log, replaced by the numbers of its frames."""
    frames = [frame for frame in stream.split(b"\n\n") if frame.startswith(b"id: ")]
    return b"\n\n".join(re.sub(rb"^id: \d+", b"id: %d" % number, frame) for number, frame in enumerate(frames))
