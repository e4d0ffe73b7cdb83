"""An agent for third-party clients that writes each piece of its answer, and ends, when the test opens a gate."""

import os
from functools import partial
from pathlib import Path

import runyard
from tests.support.eventually import eventually
from tests.support.scenario.facts_and_gates import FOLDER, Notes

PIECES = 30


@runyard.agent(name="helper")
async def helper(ctx: runyard.Context) -> None:
    notes = Notes(Path(os.environ[FOLDER]))
    for n in range(PIECES):
        await eventually(f"gate {n} is open", partial(notes.is_open, str(n)))
        await ctx.token(f"{n} ")
    await eventually("the last gate is open", partial(notes.is_open, str(PIECES)))
