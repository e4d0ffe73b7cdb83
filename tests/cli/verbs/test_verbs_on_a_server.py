"""The verbs against a real server, and against the database when no server is there."""

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runyard.client import Client
from tests.cli.cli_process import RUNYARD, environment, following, runyard, serving
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.flow

APP = """
import asyncio

import runyard

@runyard.tool(approval="always")
async def send(to: str) -> str:
    return f"sent to {to}"

@runyard.agent
async def clerk(ctx):
    return await ctx.call(send, to="Ada")

@runyard.agent
async def greeter(ctx):
    for word in ("Hello ", "there"):
        await ctx.token(word)
    return runyard.Output("Hello there", sources=["cv_1"])

@runyard.agent
async def sleeper(ctx):
    await ctx.token("z")
    await asyncio.sleep(3600)

@runyard.agent
async def broken(ctx):
    raise ValueError("secret")

default = greeter
"""

WAITS = ("approvals", "waits")


async def start(url: str, agent: str) -> str:
    async with Client(url) as client:
        return await client.post(await client.create_thread(agent), "hi")


async def test_a_run_can_be_listed_shown_followed_and_repeated(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        run = await start(url, "greeter")

        followed = runyard(folder, "runs", "follow", run, env=env)
        assert followed.stdout == "Hello there\n"
        assert followed.stderr.splitlines() == ["sources: cv_1", "done"]
        assert followed.returncode == 0

        assert run in runyard(folder, "runs", "list", env=env).stdout
        rows = json.loads(runyard(folder, "runs", "list", "--agent", "greeter", "--json", env=env).stdout)
        assert [(row["run_id"], row["status"]) for row in rows] == [(run, "done")]
        assert "No runs" in runyard(folder, "runs", "list", "--status", "error", env=env).stdout

        shown = runyard(folder, "runs", "show", run, env=env).stdout
        assert "done (end_turn)" in shown
        assert "Hello there" in shown
        assert (
            json.loads(runyard(folder, "runs", "show", run, "--json", env=env).stdout)["state"]["text"] == "Hello there"
        )

        again = runyard(folder, "runs", "retry", run, "--follow", env=env)
        assert again.stdout == "Hello there\n"
        assert runyard(folder, "runs", "cancel", run, env=env).stdout == "done\n"


async def test_an_approval_is_listed_and_decided_once(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        env = {"RUNYARD_URL": url}
        run = await start(url, "clerk")
        async with Client(url) as client:
            async for event in client.follow(run):
                if event.type == "run.waiting":
                    break
        approvals = json.loads(runyard(folder, "approvals", "list", "--json", env=env).stdout)
        assert [(row["run_id"], row["tool"]) for row in approvals] == [(run, "send")]
        name = approvals[0]["approval_id"]
        listed = runyard(folder, "approvals", "list", env=env).stdout
        assert name in listed
        assert re.search(rf"^{name}  clerk  send  tool .*  {run}  hi +{{\"to\":\"Ada\"}}$", listed, re.M), listed
        shown = runyard(folder, "approvals", "show", name[-8:], env=env).stdout
        assert re.search(r"^agent +clerk\nmessage +hi$", shown, re.M), shown
        assert '"to": "Ada"' in shown
        assert runyard(folder, "approvals", "show", name, "--quiet", env=env).stdout == "pending\n"
        assert "waiting" in runyard(folder, "runs", "list", env=env).stdout

        approved = runyard(folder, "approvals", "approve", name, "--input", '{"to": "Bob"}', env=env)
        assert approved.stdout == "approved\n"
        second = runyard(folder, "approvals", "reject", name, env=env)
        assert (second.returncode, second.stdout) == (1, "")

        followed = runyard(folder, "runs", "follow", run, env=env)
        assert followed.stdout == "sent to Bob\n"
        assert '→ send {"to":"Bob"}' in followed.stderr


async def test_a_failed_run_ends_follow_with_exit_code_1(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        run = await start(url, "broken")
        followed = runyard(folder, "runs", "follow", run, env={"RUNYARD_URL": url})
    assert followed.returncode == 1
    assert followed.stderr.splitlines()[-1] == "error"


async def test_an_exception_of_an_agent_is_printed_by_dev_and_kept_for_runs_show(folder: Path) -> None:
    errors = folder / "stderr"
    with serving(folder, "app.py", errors=errors) as url:
        env = {"RUNYARD_URL": url}
        run = await start(url, "broken")
        assert runyard(folder, "runs", "follow", run, env=env).returncode == 1
        printed = errors.read_text()
        shown = runyard(folder, "runs", "show", run, env=env).stdout
    assert f"The agent broken raised, run {run}:\nTraceback (most recent call last):\n" in printed
    for text in (printed, shown):
        assert "app.py" in text
        assert 'raise ValueError("secret")' in text
        assert "ValueError: secret\n" in text


async def test_everything_that_happens_is_followed(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        asleep = await start(url, "sleeper")
        with (
            following_all(folder, url) as follower,
            following_all(folder, url, "--agent", "greeter", "--json") as events,
        ):
            first = await start(url, "greeter")
            lines = read_until(follower, f"{first[-8:]} greeter  done")
            assert [line.partition(" ")[2] for line in lines if first[-8:] in line] == [
                f"{first[-8:]} greeter  ▶ hi",
                f"{first[-8:]} greeter  Hello there",
                f"{first[-8:]} greeter  sources: cv_1",
                f"{first[-8:]} greeter  done",
            ]
            async with Client(url) as client:
                await client.cancel(asleep)
            ended = read_until(follower, f"{asleep[-8:]} sleeper  canceled")
            assert not any("▶" in line for line in ended), "it was under way before"
            log = [json.loads(line) for line in read_until(events, "run.finished")]
            assert [(event["run_id"], event["seq"]) for event in log] == [(first, n) for n in range(1, len(log) + 1)]


@contextmanager
def following_all(folder: Path, url: str, *options: str) -> "Iterator[subprocess.Popen[str]]":
    """`runyard follow`, once it has begun, until Ctrl-C."""
    process = subprocess.Popen(
        [RUNYARD, "follow", *options],
        cwd=folder,
        env=environment(RUNYARD_URL=url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that runs the tests in the background ignores it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    patience = threading.Timer(PATIENCE, process.kill)
    patience.start()
    try:
        assert process.stderr is not None
        assert "and all new ones; Ctrl-C ends." in process.stderr.readline()
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    finally:
        patience.cancel()
        process.kill()
        process.communicate()


def read_until(process: "subprocess.Popen[str]", text: str) -> list[str]:
    """The lines that it prints, up to one with this text."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if text in line:
            return lines
    raise AssertionError(lines)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
async def test_follow_outlives_its_server(end: signal.Signals, tmp_path: Path) -> None:
    with serving(tmp_path, end=end) as url:
        for _ in range(10):  # on a slow machine a run may end before its follower has started
            run = await start(url, "slow")
            follower = following(tmp_path, url, run)
            assert follower.stdout is not None
            first = follower.stdout.read(1)
            async with Client(url) as client:
                if (await client.run(run)).status == "running":
                    break
            follower.communicate(timeout=PATIENCE)
    with serving(tmp_path, port=int(url.rpartition(":")[2])):
        rest, notes = follower.communicate(timeout=PATIENCE)
    assert follower.returncode == 0, notes
    words = [f"word{n}" for n in range(1, 61)]
    assert (first + rest).decode().split()[-60:] == words
    assert b"resumed after a " in notes
    assert notes.endswith(b"done\n")


async def test_without_a_server_the_database_itself_is_read(folder: Path) -> None:
    no_server = {"RUNYARD_URL": "http://127.0.0.1:9"}
    with serving(folder, "app.py") as url:
        run = await start(url, "greeter")
        waiting = await start(url, "clerk")
        async with Client(url) as client:
            assert [event.type async for event in client.follow(run)][-1] == "run.finished"
            async for event in client.follow(waiting):
                if event.type == "run.waiting":
                    break
        asked = [runyard(folder, what, "list", "--json", env={"RUNYARD_URL": url}).stdout for what in WAITS]
        held = runyard(folder, "runs", "list", env=no_server)
        assert held.returncode == 2
        assert "set RUNYARD_URL" in held.stderr
        assert "has the file" in runyard(folder, "doctor", env={"RUNYARD_URL": url, "RUNYARD_PORT": "0"}).stdout

    listed = runyard(folder, "runs", "list", env=no_server)
    assert run in listed.stdout
    assert listed.stderr.startswith("No server answers at http://127.0.0.1:9; reading .runyard/runyard.db")
    assert runyard(folder, "runs", "follow", run, env=no_server).stdout == "Hello there\n"
    assert [runyard(folder, what, "list", "--json", env=no_server).stdout for what in WAITS] == asked
    stuck = runyard(folder, "runs", "follow", waiting, env=no_server)
    assert stuck.returncode == 1
    assert "no worker executes it" in stuck.stderr
    assert runyard(folder, "runs", "cancel", waiting, env=no_server).stdout == "canceled\n"
    assert runyard(folder, "runs", "show", "x", env=no_server).returncode == 1


async def test_threads_are_sorted_by_activity_or_by_creation(folder: Path) -> None:
    with serving(folder, "app.py") as url:
        async with Client(url) as client:
            older, newer = await client.create_thread("greeter"), await client.create_thread("greeter")
            for thread in (newer, older):
                await client.answer(thread, "hi")

        def check(address: str) -> None:
            for options, order in (((), [older, newer]), (("--sort", "created"), [newer, older])):
                listed = runyard(folder, "threads", "list", "--quiet", *options, env={"RUNYARD_URL": address})
                assert listed.stdout.split() == order

        check(url)
        wrong = runyard(folder, "threads", "list", "--sort", "age", env={"RUNYARD_URL": url})
        assert (wrong.returncode, wrong.stderr) == (1, "runyard: --sort must be activity or created.\n")
    check("http://127.0.0.1:9")


def test_the_demo_answers_as_the_banner_promises(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        done = runyard(tmp_path, "doctor", env={"RUNYARD_PORT": url.rpartition(":")[2]})
        assert done.returncode == 0, done.stdout
        assert f"A server answers at {url}." in done.stdout


def test_migrate_makes_the_schema_and_says_so(tmp_path: Path) -> None:
    assert runyard(tmp_path, "migrate", "--check").returncode == 1
    assert "from nothing to" in runyard(tmp_path, "migrate").stdout
    assert "is up to date" in runyard(tmp_path, "migrate").stdout
    assert runyard(tmp_path, "migrate", "--check").returncode == 0


def test_migrate_and_doctor_know_postgres(tmp_path: Path, pg_database: str) -> None:
    env = {"RUNYARD_DATABASE_URL": pg_database, "RUNYARD_PORT": "0"}
    assert runyard(tmp_path, "migrate", "--check", env=env).returncode == 1
    assert "from nothing to" in runyard(tmp_path, "migrate", env=env).stdout
    assert runyard(tmp_path, "migrate", "--check", env=env).returncode == 0
    checked = runyard(tmp_path, "doctor", env=env)
    assert checked.returncode == 0, checked.stdout
    assert "workers   none" in checked.stdout


async def test_a_run_is_canceled_without_a_server(folder: Path) -> None:
    """Its server was killed. The command either ends the run, or says that the next server will."""
    with serving(folder, "app.py", end=signal.SIGKILL) as url:
        run = await start(url, "sleeper")
        async with Client(url) as client:
            async for event in client.follow(run):
                if event.type == "model.token":
                    break
    done = runyard(folder, "runs", "cancel", run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "canceled" or "no server is running to stop the run" in done.stderr
