"""Values of a graph as JSON in the log, and back."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from runyard.agents.json_values import plain
from runyard.agents.kinds.langgraph.graph_values import GraphValues


@dataclass
class Place:
    name: str
    at: tuple[float, float]


def test_values_come_back_as_they_were_and_a_growing_list_is_stored_once() -> None:
    when = datetime(2026, 1, 2, tzinfo=UTC)
    values: list[Any] = [
        None,
        [1, 2.5, True, "a", 2**63, -(2**63)],
        [math.inf, -math.inf],
        b"\0bytes",
        {"$object": 1, "$fields": [2]},
        {1: "one", (2, 3): "pair"},
        {"set": {1, 2}, "when": when, "id": UUID(int=7), "place": Place("here", (1.0, 2.0))},
        [HumanMessage("a", id="1"), AIMessage("b", id="2", tool_calls=[{"name": "t", "args": {"x": 1}, "id": "c"}])],
    ]
    written, read = GraphValues(JsonPlusSerializer()), GraphValues(JsonPlusSerializer())
    for value in values:
        known = len(written.names)
        tree = plain(written.encode(value))
        read.add_names(written.names[known:])
        found = read.decode(tree)
        if isinstance(value, dict) and "place" in value:
            found["place"] = Place(found["place"].name, tuple(found["place"].at))
        assert found == value

    said: list[Any] = []
    sizes = []
    for number in range(20):
        said = [*said, AIMessage("x" * 100, id=str(number))]
        known = len(written.names)
        tree = plain(written.encode_change(said, "messages"))
        read.add_names(written.names[known:])
        assert read.decode_change(tree, "messages") == said
        sizes.append(len(msgspec.json.encode(tree)))
    assert max(sizes[1:]) < sizes[0] + 50
    assert read.decode_change(plain(written.encode_change(said[1:], "messages")), "messages") == said[1:]
