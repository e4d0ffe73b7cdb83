"""Calls of tools, questions and their answers over connections that break: every client that can resume ends with what
it has undisturbed. All programs of a test run side by side against one server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count, repeat
from typing import Any, NamedTuple

from tests.clients.conftest import ran
from tests.support.faults.cutting_proxy import CuttingProxy

BOUGHT = "Bought row 12. From Oslo: 99 EUR."
OWN = (
    "cuts",
    "connections",
    "id",
    "ids",
    "kinds",
    "types",
    "metadata",
    "data",
    "values",
)  # of one run, or of its connections


class Client(NamedTuple):
    """A program, and after how many events each of its connections breaks. A client that reads from the beginning again
    needs a larger number each time; the SDKs of LangGraph wait a second or more after each cut."""

    program: str
    numbers: Iterator[int]
    variables: dict[str, str]


def clients() -> dict[str, Client]:
    return {
        "openai py": Client("openai_client.py", repeat(1), {}),
        "openai js": Client("openai_client.mjs", repeat(1), {}),
        "ai workflow": Client("ai_sdk_client.mjs", repeat(1), {"TRANSPORT": "workflow"}),
        "ai default": Client("ai_sdk_client.mjs", count(1), {"TRANSPORT": "default"}),
        "ag-ui": Client("ag_ui_client.mjs", count(1), {}),
        "a2a py": Client("a2a_client.py", repeat(2), {"BINDING": "HTTP+JSON"}),
        "a2a js": Client("a2a_client.mjs", repeat(2), {"BINDING": "JSONRPC"}),
        "langgraph py": Client("langgraph_client.py", repeat(4), {}),
    }


async def twice(url: str, name: str, client: Client, case: str, **more: str) -> tuple[dict[str, Any], int]:
    """Run a case undisturbed, and over connections that break. Return what the client has, which is the same, and the
    number of cuts."""
    threads = [{"CHAT": f"{name} {n}", "THREAD": f"{name} {n}"} for n in (1, 2)]
    undisturbed = await ran(client.program, case, url, **client.variables, **threads[0], **more)
    async with CuttingProxy(lambda: [url], numbers=client.numbers) as proxy:
        found = await ran(client.program, case, proxy.url, **client.variables, **threads[1], **more)
    assert _lasting(found) == _lasting(undisturbed), name
    return found, proxy.cuts


def _lasting(found: dict[str, Any]) -> dict[str, Any]:
    """Return a result without ids and what belongs to its connections."""
    return {key: value for key, value in found.items() if key not in OWN}


async def test_a_call_of_a_tool_is_the_same_over_connections_that_break(url: str) -> None:
    cases = {name: "resubscribe" if name.startswith("a2a") else "resume" for name in clients()}
    all_found = await asyncio.gather(
        *(twice(url, name, client, cases[name], INPUT="look") for name, client in clients().items())
    )
    for name, (found, cuts) in zip(clients(), all_found, strict=True):
        assert found["text"] == "So: A-1 is paid.", name
        assert cuts, name


async def test_questions_and_calls_for_the_client_are_the_same_over_connections_that_break(url: str) -> None:
    cases = {name: "resume_tool" if name.startswith("openai") else "book" for name in clients()}
    all_found = await asyncio.gather(*(twice(url, name, client, cases[name]) for name, client in clients().items()))
    for name, (found, cuts) in zip(clients(), all_found, strict=True):
        assert cuts, name
        if name.startswith("openai"):
            assert found["texts"] == ["Let me see.", "So: rain in Kyoto."]
        else:
            assert BOUGHT in (found.get("text"), found.get("texts", [[0, 0]])[-1][1]), name
