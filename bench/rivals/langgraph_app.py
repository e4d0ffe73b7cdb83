"""The graph that `langgraph dev` serves: one node that streams tokens as custom events."""

from typing import TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    tokens: int


async def write(state: State) -> dict[str, int]:
    writer = get_stream_writer()
    for n in range(state["tokens"]):
        writer({"text": f"t{n} "})
    return {}


builder = StateGraph(State)
builder.add_node("write", write)
builder.add_edge(START, "write")
builder.add_edge("write", END)
graph = builder.compile()
