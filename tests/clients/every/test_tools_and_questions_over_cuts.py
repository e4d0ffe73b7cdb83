"""Calls of tools, questions and their answers over connections that break: every client that can resume ends with what
it has undisturbed. All programs of a test run side by side against one server."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import repeat
from typing import Any

from tests.clients.conftest import ran
from tests.clients.every.clients import CLIENTS, NUMBERS, answer_of, lasting
from tests.support.faults.cutting_proxy import CuttingProxy

BOUGHT = "Bought row 12. From Oslo: 99 EUR."

HERE = NUMBERS | {"langgraph py": partial(repeat, 4), "langgraph js": partial(repeat, 4)}
"""The SDKs of LangGraph wait a second or more after each cut; the one for Node gives up after five."""


async def twice(url: str, name: str, case: str, **more: str) -> tuple[dict[str, Any], int]:
    """Run a case undisturbed, and over connections that break. Return what the client has, which is the same, and the
    number of cuts."""
    client = CLIENTS[name]
    threads = [{"CHAT": f"{name} {n}", "THREAD": f"{name} {n}"} for n in (1, 2)]
    undisturbed = await ran(client.program, case, url, **client.variables, **threads[0], **more)
    async with CuttingProxy(lambda: [url], numbers=HERE[name]()) as proxy:
        found = await ran(client.program, case, proxy.url, **client.variables, **threads[1], **more)
    assert lasting(found) == lasting(undisturbed), name
    return found, proxy.cuts


async def test_a_call_of_a_tool_is_the_same_over_connections_that_break(url: str) -> None:
    all_found = await asyncio.gather(*(twice(url, name, CLIENTS[name].case, INPUT="look") for name in HERE))
    for name, (found, cuts) in zip(HERE, all_found, strict=True):
        assert answer_of(found) == "So: A-1 is paid.", name
        assert cuts, name


async def test_questions_and_calls_for_the_client_are_the_same_over_connections_that_break(url: str) -> None:
    cases = {name: "resume_tool" if name.startswith("openai") else "book" for name in HERE}
    all_found = await asyncio.gather(*(twice(url, name, cases[name]) for name in HERE))
    for name, (found, cuts) in zip(HERE, all_found, strict=True):
        assert cuts, name
        if name.startswith("openai"):
            assert found["texts"] == ["Let me see.", "So: rain in Kyoto."]
        else:
            assert BOUGHT in (found.get("text"), found.get("texts", [[0, 0]])[-1][1]), name
