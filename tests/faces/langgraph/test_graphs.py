"""A graph of LangGraph that Runyard runs, seen by the SDKs of LangGraph: nodes, custom data and interrupts."""

from typing import Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import runyard
from runyard.agents.declared.loading import App
from runyard.base.sse import Parser
from tests.support.in_process.live_server import Serve
from tests.web.responses.test_problems import MEMORY


class Trip(TypedDict, total=False):
    messages: list[Any]
    city: str
    row: int


def look(state: Trip) -> Trip:
    get_stream_writer()({"progress": 50})
    return {"city": "Oslo"}


def ask(state: Trip) -> Trip:
    return {"row": interrupt({"question": "Which row?", "options": [1, 2]})}


builder = StateGraph(Trip)
builder.add_node("look", look)
builder.add_node("ask", ask)
builder.add_edge(START, "look")
builder.add_edge("look", "ask")
builder.add_edge("ask", END)
trip = runyard.langgraph("trip", builder.compile())


@MEMORY
async def test_a_graph_has_its_nodes_its_data_and_its_interrupts(serve: Serve) -> None:
    server = await serve(App({"trip": trip}, {}, "trip"))
    modes = ["values", "updates", "custom"]
    body: dict[str, Any] = {"assistant_id": "trip", "input": "a trip", "stream_mode": modes, "if_not_exists": "create"}
    answer = await server.http.post("/langgraph/threads/mine/runs/stream", json=body)
    frames = [(frame.event, frame.data) for frame in Parser().feed(answer.content)]
    assert [data for event, data in frames if event == "custom"] == ['{"progress":50}'], "and no checkpoints"
    assert any(event == "updates" and data.startswith('{"look":') for event, data in frames)
    state = (await server.http.get("/langgraph/threads/mine/state")).json()
    [asked] = state["interrupts"]
    assert asked["value"] == {"question": "Which row?", "options": [1, 2]}
    body = {"assistant_id": "trip", "command": {"resume": 2}}
    values = (await server.http.post("/langgraph/threads/mine/runs/wait", json=body)).json()
    assert (values["city"], values["row"]) == ("Oslo", 2)
