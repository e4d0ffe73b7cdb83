"""The operations of a scenario's agents that wait: for a person, a client, other runs, time and events."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import runyard
from tests.support.scenario.facts_and_gates import FOLDER, Notes

notes = Notes(Path(os.environ[FOLDER]))
locate = runyard.client_tool("locate", "Return the position.", answer={"type": "string"})


async def ask(ctx: runyard.Context, question: str, seconds: float | None = None, default: int | None = None) -> None:
    row = (
        await ctx.ask(question, int, timeout=seconds)
        if default is None
        else (await ctx.ask(question, int, timeout=seconds, default=default))
    )
    await ctx.token(f"[row {row}]")


async def client(ctx: runyard.Context) -> None:
    await ctx.token(f"[{await ctx.call(locate)}]")


async def children(ctx: runyard.Context, *programs: Any) -> None:
    """Run the programs side by side, each in a child run."""
    ends = await asyncio.gather(
        *[ctx.run("player", json.dumps(program)) for program in programs], return_exceptions=True
    )
    for end in ends:
        await ctx.token(f"[{end.text}]" if isinstance(end, runyard.Output) else f"[{type(end).__name__}]")


async def sleep(ctx: runyard.Context, seconds: float) -> None:
    await ctx.sleep(seconds)
    notes.write("woke", ctx.run_id, time.time_ns())


async def event(ctx: runyard.Context, name: str, key: str, seconds: float | None = None) -> None:
    try:
        await ctx.token(f"[{await ctx.wait_for(name, key, timeout=seconds)}]")
    except runyard.AnswerTimedOut:
        await ctx.token("[no event]")
