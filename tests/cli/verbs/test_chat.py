"""`runyard chat`: a conversation in a terminal."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_process import runyard, serving
from tests.cli.terminal import terminal

pytestmark = [pytest.mark.flow, pytest.mark.req("S1.57")]

APP = """
import asyncio
import runyard

@runyard.tool(approval="always", effects="once")
async def refund(order: str, amount: float) -> str:
    "Pay back."
    return f"paid {amount}"

def think(conversation):
    if conversation[-1]["role"] == "tool":
        return {"text": ["It said: ", str(conversation[-1]["content"])]}
    call = {"tool": "refund", "input": {"order": "A-1", "amount": 5.0}}
    return {"thinking": "Let me see.", "text": ["I must ask."], "calls": [call]}

clerk = runyard.Agent("clerk", model="scripted", turns=think, tools=[refund])

@runyard.agent
async def slow(ctx):
    await ctx.token("begun ")
    await asyncio.Event().wait()

@runyard.agent
async def asker(ctx):
    return "yes it is" if await ctx.request_approval("Is it so?", about="tea") else "then not"

@runyard.agent
async def listener(ctx):
    said = [ctx.message.text]
    await ctx.request_approval("Go on?")
    said += [message.text for message in await ctx.new_messages()]
    return " + ".join(said)

@runyard.agent
async def reader(ctx):
    for file in ctx.message.files:
        await ctx.token((await file.read()).decode())
    await ctx.attach("copy.txt", b"a copy", "text/plain")

@runyard.agent
async def echo(ctx):
    return f"you said {ctx.message.text}"

default = clerk
"""


def test_a_conversation_with_questions_stops_and_edits(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", env=env) as person:
            person.until("> ")
            person.type("give it back\n")
            asked = person.until("[y]es, [n]o, [e]dit: ")
            assert "Let me see.\nI must ask.\n? Allow the call of refund?\n  order: A-1\n  amount: 5.0\n" in asked
            person.type("what?\n")
            person.until("[e]dit: ")
            person.type("y\n")
            assert "It said: paid 5.0\n" in person.until("> ")

            person.type("again\n")
            person.until("[e]dit: ")
            person.type("n\n")
            person.until("Reason")
            person.type("too much\n")
            assert "too much" in person.until("> ")

            person.type("and again\n")
            person.until("[e]dit: ")
            person.type("e\n")
            person.until('{"order":"A-1","amount":5.0}')
            person.type("\x15" + '{"amount":"lots","order":"A-1"}\n')
            assert "do not fit" in person.until("[e]dit: "), "it decides nothing"
            person.type("e\n")
            person.until('input: {"order":"A-1","amount":5.0}')
            person.type("\x15" + '{"amount":2.5,"order":"A-1"}\n')
            assert "paid 2.5" in person.until("> ")

            person.type("\x04")
            thread = person.until("--thread ") and person.until("\n").strip()
            assert person.ended() == 0

        with terminal(folder, "chat", "slow", "--thread", thread, env=env) as person:
            person.until("> ")
            person.type("wait\n")
            person.until("begun ")
            person.type("\x03")
            assert "canceled" in person.until("> "), "the run is stopped, not the program"
            person.press("\x03", "> ")
            person.type("\x04")
            assert person.ended() == 0


def test_a_question_that_was_left_open_is_asked_again(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", "asker", env=env) as person:
            person.until("> ")
            person.type("well?\n")
            assert "? The agent asks\n  about: tea\n  question: Is it so?" in person.until("[y]es, [n]o: ")
            person.type("\x04")
            thread = person.until("--thread ") and person.until("\n").strip()
            assert person.ended() == 0
        with terminal(folder, "chat", "--thread", thread, env=env) as person:
            person.until("[y]es, [n]o: ")
            person.type("y\n")
            assert "yes it is\n" in person.until("> ")


def test_a_message_for_a_run_under_way_is_steered_to_it(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", "listener", env=env) as person:
            person.until("> ")
            person.type("one\n")
            person.until("[y]es, [n]o: ")
            person.type("\x04")
            thread = person.until("--thread ") and person.until("\n").strip()
            assert person.ended() == 0
        with terminal(folder, "chat", "--thread", thread, "--while-running", "steer", env=env) as person:
            person.until("> ")
            person.type("two\n")
            person.until("[y]es, [n]o: ")
            person.type("y\n")
            assert "one + two\n" in person.until("> ")


def test_a_missing_server_or_agent_is_reported_at_once(folder: Path) -> None:
    alone = runyard(folder, "chat", env={"RUNYARD_URL": "http://127.0.0.1:9"})
    assert (alone.returncode, alone.stderr) == (
        1,
        "runyard: No server answers at http://127.0.0.1:9; start one with `runyard dev`.\n",
    )
    with serving(folder, "app.py") as url:
        wrong = runyard(folder, "chat", "clark", env={"RUNYARD_URL": url})
        assert wrong.returncode == 1
        assert "has no agent clark that answers messages. Did you mean clerk? It has asker, " in wrong.stderr
        absent = runyard(folder, "chat", "--thread", "01a1e52c-90ef-716f-aa47-9cf6bf642cc5", env={"RUNYARD_URL": url})
        assert (absent.returncode, absent.stderr) == (1, "runyard: There is no thread with that id.\n")


def test_commands_inside_a_conversation(folder: Path) -> None:
    (folder / "note.txt").write_text("turn left")
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", "reader", env=env) as person:
            person.until("Talking to reader. /help lists commands")
            person.until("> ")
            person.type("/help\n")
            assert "  /file PATH " in person.until("> ")
            person.type("/nothing\n")
            assert "There is no command /nothing" in person.until("> ")
            for words, says in (("/file none.txt", "There is no file none.txt."), ("/agent noone", "no agent noone")):
                person.type(f"{words}\n")
                assert says in person.until("> ")
            person.type("/file note.txt\n")
            assert "note.txt goes with the next message." in person.until("> ")
            person.type("read it, \\\n")
            person.until("… ")
            person.type("all of it\n")
            assert "turn left\n" in person.until("> ")
            person.type("/agent echo\n")
            person.until("> ")
            person.type("//help is text\n")
            assert "you said /help is text\n" in person.until("> ")
            person.type("/history\n")
            assert "read it,\nall of it\n" in person.until("> ")
            person.type("/new\n")
            person.until("> ")
            person.type("/thread\n")
            assert "begins with the first message" in person.until("> ")
            person.type("/quit\n")
            assert person.ended() == 0
        with terminal(folder, "chat", "echo", env=env) as person:
            person.until("> ")
            person.press("\x1b[A", "//help is text")  # the up arrow: what was said in an earlier session
            person.type("\n")
            assert "you said /help is text\n" in person.until("> ")
        told = json_lines(runyard(folder, "chat", "echo", "--json", env=env, typed="one\ntwo\n").stdout)
        assert [each["data"]["text"] for each in told if each["type"] == "run.output"] == [
            "you said one",
            "you said two",
        ]
        quiet = runyard(folder, "chat", "echo", "--quiet", env=env, typed="one\n")
        assert (quiet.stdout, quiet.stderr) == ("you said one\n", "")


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_file_goes_with_the_first_message_only(folder: Path) -> None:
    (folder / "note.txt").write_text("turn left")
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        with terminal(folder, "chat", "reader", "--file", "note.txt", env=env) as person:
            person.until("> ")
            person.type("read it\n")
            answer = person.until("> ")
            assert "turn left\n" in answer
            assert "file: copy.txt (6 bytes, " in answer
            person.type("and now?\n")
            assert "turn left" not in person.until("> ")
        refused = runyard(folder, "chat", "--file", "nothing.txt", env=env)
        assert (refused.returncode, refused.stderr) == (1, "runyard: There is no file nothing.txt.\n")
