"""The clients that follow a run, each with the case of its program that does so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count, repeat
from types import MappingProxyType
from typing import Any, NamedTuple


class Client(NamedTuple):
    """A program, its variables, and the case that follows the run of the message INPUT to its end."""

    program: str
    variables: Mapping[str, str] = MappingProxyType({})
    case: str = "resume"


CLIENTS = {
    "openai py": Client("openai_client.py"),
    "openai js": Client("openai_client.mjs"),
    "ai workflow": Client("ai_sdk_client.mjs", {"TRANSPORT": "workflow"}),
    "ai default": Client("ai_sdk_client.mjs", {"TRANSPORT": "default"}),
    "ag-ui": Client("ag_ui_client.mjs"),
    "a2a py": Client("a2a_client.py", {"BINDING": "HTTP+JSON"}, "resubscribe"),
    "a2a js": Client("a2a_client.mjs", {"BINDING": "JSONRPC"}, "resubscribe"),
    "mcp js, sessions": Client("mcp_client.mjs", {"MODE": "legacy"}),
    "mcp js, stateless": Client("mcp_client.mjs", {"MODE": "auto"}),
    "langgraph py": Client("langgraph_client.py"),
    "langgraph js": Client("langgraph_client.mjs"),
    "thread stream": Client("langgraph_thread_client.mjs"),
    "eventsource": Client("eventsource_client.mjs", case="follow"),
}


NUMBERS: dict[str, Callable[[], Iterator[int]]] = {
    "openai py": partial(repeat, 1),
    "openai js": partial(repeat, 1),
    "ai workflow": partial(repeat, 1),
    "ai default": partial(count, 1),
    "ag-ui": partial(count, 1),
    "a2a py": partial(repeat, 2),
    "a2a js": partial(repeat, 2),
}
"""After how many events each connection of a client breaks. A client that reads from the beginning again needs a larger
number each time."""

OWN = {"thread", "cuts", "connections", "run", "id", "ids", "kinds", "types", "metadata", "data", "values"}
"""The fields of a program's output that belong to one run, or to its connections."""


def lasting(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a program prints without ids and what belongs to its connections."""
    return {key: value for key, value in found.items() if key not in OWN}


def answer_of(found: dict[str, Any]) -> str:
    """Return the answer in what a program prints at the end of a run: the last message of a thread, or a text."""
    if "values" in found:
        return str(found["values"]["messages"][-1]["content"])
    return str(found["texts"][-1][1] if "texts" in found else found["text"])
