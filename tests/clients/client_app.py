"""The agents that third-party clients talk to: a scripted model that does what the first word of the message says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

import runyard
from runyard.models.model import Conversation


@runyard.tool(effects="none")
async def look_up(order: str) -> str:
    """Look up an order."""
    return f"{order} is paid"


@runyard.tool(effects="once", approval="always")
async def refund(order: str) -> str:
    """Refund an order."""
    return f"{order} is refunded"


COUNT = [f"{n} " for n in range(30)]
DOT = b"\x89PNG\r\n\x1a\n" + bytes(8)
LONG = bytes(range(256)) * 1200  # too long for a result of MCP
USAGE = {"input_tokens": 5, "output_tokens": 3}


def turn(conversation: Conversation) -> Mapping[str, Any]:
    """Return the next turn. The conversation ends with the message of the user, or with results of tools."""
    asked = next(each["content"] for each in reversed(conversation) if each["role"] == "user")
    results = [each["content"] for each in conversation if each["role"] == "tool"]
    is_first = conversation[-1]["role"] == "user"
    return WORDS.get(str(asked).partition(" ")[0], _greet)(is_first, results, conversation)


def _greet(is_first: bool, results: list[str], conversation: Conversation) -> Mapping[str, Any]:
    return {"thinking": ["hm, ", "a guest"], "text": ["Hello, ", "dear ", "guest."], "usage": USAGE}


def _call(tool: str, given: dict[str, Any], before: str = "") -> Callable[..., Mapping[str, Any]]:
    def turn(is_first: bool, results: list[str], conversation: Conversation) -> Mapping[str, Any]:
        if is_first:
            return {"text": before, "calls": [{"tool": tool, "input": given}], "usage": USAGE}
        return {"text": ["So: ", results[-1], "."], "usage": USAGE}

    return turn


WORDS: dict[str, Callable[[bool, list[str], Conversation], Mapping[str, Any]]] = {
    "look": _call("look_up", {"order": "A-1"}),
    "refund": _call("refund", {"order": "A-1"}),
    "weather": _call("get_weather", {"city": "Kyoto"}, "Let me see."),
    "count": lambda *_: {"thinking": "1, 2, 3", "text": COUNT, "every_ms": int(os.environ.get("EVERY_MS", "0"))},
    "slowly": lambda *_: {"thinking": "1, 2, 3", "text": COUNT, "every_ms": 5},
    "endless": lambda *_: {"text": ["x "] * 10_000, "every_ms": 10},
    "fail": lambda *_: {"text": "oh", "error": "rate_limited"},
    "repeat": lambda first, results, said: {"text": "; ".join(f"{each['role']}: {each['content']}" for each in said)},
}

helper = runyard.Agent("helper", model="scripted", turns=turn, tools=[look_up, refund], instructions="Be kind.")


class Seat(BaseModel):
    row: int


locate = runyard.client_tool("locate", "Return the city of the user.", answer={"type": "string"})


@runyard.agent
async def fares(ctx: runyard.Context) -> None:
    await ctx.thinking("cheap?")
    await ctx.token(f"From {ctx.message.text}: ")
    await ctx.token("99 EUR")


async def reserve(row: int) -> str:
    return f"row {row}"


@runyard.agent(tools=[locate])
async def airline(ctx: runyard.Context) -> runyard.Output:
    """Wait for everything that a client can see: a question, a tool of the client, a child run and a confirmation."""
    seat = await ctx.ask("Which seat?", Seat)
    reserved = await ctx.step("reserve", reserve, seat.row)
    city = await ctx.call(locate)
    fare = await ctx.run("fares", city)
    if not await ctx.request_approval("Buy it?", price=99):
        return runyard.Output("Not bought.")
    await ctx.token(f"Bought {reserved}. {fare.text}.")
    return runyard.Output(sources=["https://example.com/fares", "fare_001"], outputs={"seat": seat.row})


@runyard.agent
async def viewer(ctx: runyard.Context) -> str:
    """Name the files of the message, with the beginning of their bytes."""
    seen = [f"{file.type} {(await file.read())[:4].hex()}" for file in ctx.message.files]
    return f"{ctx.message.text}: {', '.join(seen)}"


@runyard.agent
async def printer(ctx: runyard.Context) -> str:
    """Answer with a file, or with several."""
    await ctx.attach("page.txt", b"printed", "text/plain")
    if ctx.message.text == "several":
        await ctx.attach("dot.png", DOT, "image/png")
        await ctx.attach("long.bin", LONG, "application/octet-stream")
    return "Here it is."
