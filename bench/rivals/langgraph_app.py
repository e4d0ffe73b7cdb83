"""The graphs that `langgraph dev` serves: one node that streams tokens as custom events, at once or at their times."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph

sys.path.append(str(Path(__file__).parent))  # it is loaded by its path
from pace import due_tokens


class State(TypedDict):
    tokens: int


async def write(state: State) -> dict[str, int]:
    writer = get_stream_writer()
    for n in range(state["tokens"]):
        writer({"text": f"t{n} "})
    return {}


async def converse(state: State) -> dict[str, int]:
    writer = get_stream_writer()
    async for text in due_tokens(state["tokens"]):
        writer({"text": text})
    return {}


def _graph(node: Callable[[State], Awaitable[dict[str, int]]]) -> Any:
    builder = StateGraph(State)
    builder.add_node("write", node)
    builder.add_edge(START, "write")
    builder.add_edge("write", END)
    return builder.compile()


graph, conversing = _graph(write), _graph(converse)
