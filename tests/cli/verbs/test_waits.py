"""`runyard waits`, `runyard events` and forms in `runyard chat`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_process import runyard, serving
from tests.cli.terminal import terminal

pytestmark = pytest.mark.flow

APP = """
import asyncio
import runyard

SEAT = {"type": "object", "properties": {"row": {"type": "integer"}, "side": {"enum": ["left", "right"]}},
        "required": ["row", "side"]}
locate = runyard.client_tool("locate", "Return the position of the user.", answer={"type": "string"})

@runyard.agent(tools=[locate])
async def airline(ctx):
    seat = await ctx.ask("Which seat?", SEAT)
    place = await ctx.call("locate", why="to find the gate")
    paid = await ctx.wait_for("order.paid", key="A-17")
    return f"Row {seat['row']} {seat['side']} from {place}, paid by {paid['by']}."

default = airline
"""


def test_chat_asks_with_forms_and_goes_on_after_an_event(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", env=env) as person:
            person.until("> ")
            person.type("a seat\n")
            assert "? Which seat?\n" in person.until("row (whole number): ")
            person.type("far\n")
            assert "Enter a whole number." in person.until("row (whole number): ")
            person.type("12\n")
            person.until("side (1 = left, 2 = right): ")
            person.type("2\n")
            assert "? The agent calls your tool locate\n  why: to find the gate\n" in person.until("answer: ")
            person.type("Kyoto\n")
            person.until("order.paid A-17")
            sent = runyard(folder, "events", "send", "order.paid", "--key", "A-17", "--data", '{"by": "card"}', env=env)
            assert (sent.returncode, sent.stdout) == (0, "delivered\n"), sent.stderr
            assert "Row 12 right from Kyoto, paid by card.\n" in person.until("> ")
            person.type("\x04")
            assert person.ended() == 0


def test_waits_are_listed_shown_and_answered_once(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", env=env) as person:
            person.until("> ")
            person.type("a seat\n")
            person.until("row (whole number): ")
        [wait] = waits(folder, env)
        name = wait["wait_id"]
        assert (wait["kind"], wait["prompt"]) == ("question", "Which seat?")
        listed = runyard(folder, "waits", "list", env=env).stdout
        assert re.search(rf"^{name}  question  [\d.]+ s +Which seat\?$", listed, re.MULTILINE), listed
        shown = runyard(folder, "waits", "show", name[-8:], env=env).stdout
        assert "question  Which seat?" in shown
        assert '"row": {' in shown

        wrong = runyard(folder, "waits", "answer", name, '{"row": "far", "side": "left"}', env=env)
        assert (wrong.returncode, wrong.stdout) == (1, "")
        assert "`$.row` must be of type integer" in wrong.stderr
        assert "must be JSON" in runyard(folder, "waits", "answer", name, "row 7", env=env).stderr
        assert "Give the answer as JSON" in runyard(folder, "waits", "answer", name, env=env).stderr
        done = runyard(folder, "waits", "answer", name, '{"row": 7, "side": "left"}', env=env)
        assert (done.returncode, done.stdout) == (0, "answered\n"), done.stderr
        assert runyard(folder, "waits", "answer", name, "{}", env=env).returncode == 1, "the first answer counts"
        shown = runyard(folder, "waits", "show", name[-8:], env=env).stdout
        assert re.search(r"^state +answered$", shown, re.MULTILINE), "a short id also names an answered wait"
        other = runyard(folder, "approvals", "show", name, env=env)
        assert other.stderr == f"runyard: There is no approval whose id starts or ends with {name}.\n"
        absent = runyard(folder, "waits", "show", "zzzzzzzz", env=env)
        assert absent.stderr == "runyard: There is no wait whose id starts or ends with zzzzzzzz.\n"

        with terminal(folder, "runs", "follow", wait["run_id"], env=env) as person:
            person.until("? tool of the client: locate")
            person.until("waiting")
        [tool] = waits(folder, env)
        with terminal(folder, "waits", "answer", tool["wait_id"], env=env) as person:
            person.until("answer: ")
            person.type("Oslo\n")
            assert person.until("\nanswered\n")
            assert person.ended() == 0
        for _ in range(2):
            words = ("events", "send", "order.paid", "--key", "A-17", "--data", '{"by": "cash"}', "--id", "e1")
            sent = runyard(folder, *words, env=env)
        assert sent.stdout == "An event with this id was delivered before.\n"
        assert (
            "Row 7 left from Oslo, paid by cash." in runyard(folder, "runs", "follow", wait["run_id"], env=env).stdout
        )
        assert runyard(folder, "waits", "list", env=env).stdout == "No run waits for a person or a client\n"


def waits(folder: Path, env: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(runyard(folder, "waits", "list", "--json", env=env).stdout)
    return found
