"""A call that may happen twice is asked for once more, in `runyard chat` and by `runyard approvals approve`."""

import json
import signal
from pathlib import Path

import pytest

from runyard.client import Client
from tests.cli.cli_process import runyard, serving
from tests.cli.terminal import terminal
from tests.support.eventually import eventually

pytestmark = pytest.mark.flow

APP = """
import asyncio
from pathlib import Path

import runyard

@runyard.tool(effects="once")
async def pay(order: str) -> str:
    if Path("begun").exists():
        return f"paid {order}"
    Path("begun").touch()
    await asyncio.sleep(3600)

@runyard.agent
async def clerk(ctx):
    return await ctx.call(pay, order="A-17")
"""
WARNING = "If the first call of pay took effect, it happens twice. This cannot be undone."


async def test_a_repetition_needs_more_than_one_letter(folder: Path) -> None:
    with serving(folder, "app.py", end=signal.SIGKILL) as url:
        async with Client(url) as client:
            thread = await client.create_thread()
            run = await client.post(thread, "pay it")
        await eventually("the tool is called", (folder / "begun").exists)
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        async with Client(url) as client:
            async for event in client.follow(run):
                if event.type == "run.waiting":
                    break
        with terminal(folder, "chat", "--thread", thread, env=env) as person:
            assert "? The worker died while pay ran" in person.until("[y]es, [n]o: ")
            person.type("y\n")
            assert WARNING in person.until("Type yes to call it again: ")
            person.type("y\n")
            person.until("[y]es, [n]o: ")
        [approval] = json.loads(runyard(folder, "approvals", "list", "--json", env=env).stdout)
        name = approval["approval_id"]
        refused = runyard(folder, "approvals", "approve", name, env=env)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "Give --yes to call it again." in refused.stderr
        with terminal(folder, "approvals", "approve", name, env=env) as person:
            person.until("Type yes to call it again: ")
            person.type("\n")
            person.until("Nothing is decided.\n")
            assert person.ended() == 1
        with terminal(folder, "approvals", "approve", name, env=env) as person:
            person.until("Type yes to call it again: ")
            person.press("\x03", "Nothing is decided.\n")
            assert person.ended() == 1
        assert runyard(folder, "approvals", "list", "--quiet", env=env).stdout == f"{name}\n", "nothing is decided"
        with terminal(folder, "approvals", "approve", name, env=env) as person:
            person.until("Type yes to call it again: ")
            person.type("yes\n")
            person.until("approved\n")
            assert person.ended() == 0
        assert runyard(folder, "runs", "follow", run, env=env).stdout == "paid A-17\n"
        second = runyard(folder, "approvals", "approve", name, "--yes", env=env)
        assert (second.returncode, second.stdout) == (1, "")
        assert second.stderr == "runyard: This approval has been decided already.\n"
