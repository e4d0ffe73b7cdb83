"""Graphs of LangGraph as agents: `runyard.langgraph("support", graph)`. What the declaration says, and checks of it.

LangGraph is not imported here: the graph that the user made has imported it.
"""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from msgspec import Struct

from runyard.agents.declared.functions import source
from runyard.errors import Invalid

MESSAGES = "messages"  # the channel of a conversation, as in LangGraph's MessagesState


class Graph(Struct, frozen=True, kw_only=True):
    """A compiled graph and its options. `nodes` are the nodes whose text is shown; None: all."""

    graph: Any
    nodes: Sequence[str] | None = None
    history: int = 20
    max_steps: int = 25

    def __post_init__(self) -> None:
        if not all(
            hasattr(self.graph, name) for name in ("astream", "aget_state", "channels", "checkpointer", "nodes")
        ):
            raise Invalid("The graph is not compiled. Call `.compile()` of the StateGraph first.")
        if self.history < 0 or self.max_steps <= 0:
            raise Invalid("history must not be negative, and max_steps must be more than 0.")

    def __repr__(self) -> str:
        return f"Graph({', '.join(self.graph.nodes)})"

    @property
    def has_messages(self) -> bool:
        """Whether the graph takes messages."""
        return MESSAGES in self.graph.channels

    @property
    def outputs(self) -> list[str]:
        """The names of the values that the graph returns."""
        names = self.graph.output_channels
        return [names] if isinstance(names, str) else list(names)

    @property
    def digest(self) -> bytes:
        """Bytes that change when a node's function, or the set of nodes, changes."""
        return b"\0".join(name.encode() + b"=" + _source(node) for name, node in sorted(self.graph.nodes.items()))

    def shows(self, path: str) -> bool:
        """Return whether text of the node at this path (`research/agent`) is shown."""
        if self.nodes is None:
            return True
        parts = path.split("/")
        return any(name in parts or path == name or path.startswith(f"{name}/") for name in self.nodes)

    def with_checkpointer(self, checkpointer: Any) -> Any:
        """Return the graph with this checkpointer instead of its own."""
        made = copy(self.graph)
        made.checkpointer = checkpointer
        return made


def _source(node: Any) -> bytes:
    bound = getattr(node, "bound", None)
    functions: list[Callable[..., Any]] = [
        fn for fn in (getattr(bound, "afunc", None), getattr(bound, "func", None)) if callable(fn)
    ]
    return source(functions[0]) if functions else type(bound).__qualname__.encode()
