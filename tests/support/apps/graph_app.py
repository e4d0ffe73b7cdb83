"""The app of the flow tests of LangGraph agents: the graph of `graph_agents.py`. What it does goes to append-only files
in the folder of the test."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import runyard
from tests.support.apps.graph_agents import trip
from tests.support.scenario.facts_and_gates import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))


def happened(what: str, key: str = "") -> None:
    notes.write("effects", what, key or what, os.getpid())


async def stand(state: MessagesState) -> dict[str, Any]:
    """Wait at the gate."""
    notes.write("reached", "node", os.getpid())
    while not notes.is_open("node"):  # noqa: ASYNC110 (the gate is a file)
        await asyncio.sleep(0.005)
    return {"messages": [AIMessage("Through.")]}


trip_agent = runyard.langgraph("trip", trip(happened))
gate_agent = runyard.langgraph("gate", StateGraph(MessagesState).add_node(stand).add_edge(START, "stand").compile())
