"""Verbs for runs, threads, channels, agents, memory and usage: a server and, later, its database give the same output,
also for short ids."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.cli_process import environment, runyard, runyard_here, serving
from tests.cli.terminal import terminal
from tests.support.eventually import PATIENCE

pytestmark = [pytest.mark.flow, pytest.mark.in_process]

APP = """
import runyard

def think(conversation):
    return {"text": ["Paid."], "usage": {"input_tokens": 1200, "output_tokens": 34, "usd": 0.05}}

clerk = runyard.Agent("clerk", model="scripted", turns=think)

@runyard.agent
async def broken(ctx):
    raise ValueError("no luck")

default = clerk
"""
NO_SERVER = {"RUNYARD_URL": "http://127.0.0.1:9"}
READS = [
    "runs list",
    "runs list --agent clerk --since 1h",
    "runs list --error agent_error",
    "threads list",
    "threads list --sort created",
    "threads search pay",
    "channels list",
    "channels show pier",
    "channels unread --all",
    "feedback show {failed}",
    "shares list {thread}",
    "agents list",
    "agents show clerk",
    "memory list clerk",
    "memory list clerk --query boats",
    "memory show clerk contacts",
    "usage",
    "usage --by day --agent clerk",
]

EVERY_READ = """
import sys
from runyard.cli import run
for number, read in enumerate(sys.argv[1:]):
    print(end="\\n" if number else "")
    assert run([*read.split(), "--json", "--quiet"]) == 0
"""


class Installation:
    """A folder whose server has stopped, and what its verbs printed while it was there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, Any] = {}
        self.thread = self.run = self.failed = self.passage = self.oldest_passage = ""

    def reads(self) -> list[str]:
        return [read.format(failed=self.failed, thread=self.thread) for read in READS]

    def said(self, *words: str) -> str:
        """Return the output of a verb while there is no server."""
        done = runyard(self.folder, *words, env=NO_SERVER)
        assert done.returncode == 0, done.stderr
        return done.stdout


def ended(http: httpx2.Client, agent: str, text: str) -> tuple[str, str]:
    """The thread and the run of a message that was answered."""
    thread = http.post("/api/threads", json={"agent": agent}).json()["thread_id"]
    run = http.post(f"/api/threads/{thread}/messages", json={"content": text}).json()["run_id"]
    assert http.get(f"/api/runs/{run}/log").text.count("event: run.finished") == 1
    return thread, run


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return filled(tmp_path_factory.mktemp("verbs"), {})


def filled(folder: Path, env: Mapping[str, str]) -> Installation:
    found = Installation(folder)
    (found.folder / "app.py").write_text(APP)
    with serving(found.folder, "app.py", env=env) as url, httpx2.Client(base_url=url, timeout=PATIENCE) as http:
        found.thread, found.run = ended(http, "clerk", "Pay it back.")
        _, found.failed = ended(http, "broken", "Try it.")
        channel = http.post("/api/channels", json={"name": "pier", "topic": "boats", "agents": ["clerk"]}).json()["id"]
        http.post("/api/messages", json={"channelId": channel, "text": "Good morning."})
        http.post("/api/dms", json={"agentId": "clerk"})
        http.put("/api/agents/clerk/memory/contacts", json={"content": "Ann: 17", "isShared": True})
        body = {"content": "Bob sells boats.", "tags": ["north"]}
        found.passage = http.post("/api/agents/clerk/passages", json=body).json()["id"]
        notes = [http.post("/api/agents/broken/passages", json={"content": f"Note {n}."}) for n in range(101)]
        found.oldest_passage = notes[0].json()["id"]
        assert runyard_here(
            found.folder, "memory", "show", "broken", found.oldest_passage[-8:], env={"RUNYARD_URL": url}
        ) == ("Note 0.\n")
        while any(run["status"] != "done" for run in http.get("/api/runs", params={"agent": "clerk"}).json()["runs"]):
            pass  # the message in the channel is answered
        there = {"RUNYARD_URL": url}
        renamed = runyard_here(found.folder, "threads", "rename", found.thread, "A refund", "--json", env=there)
        assert json.loads(renamed)["title"] == "A refund"
        exported = runyard_here(found.folder, "threads", "export", found.thread, env=there)
        assert exported.startswith("# A refund\n\n## user, ")
        link = json.loads(runyard_here(found.folder, "shares", "create", found.thread[-8:], "--json", env=there))
        assert link["link"] == f"{url}{link['path']}"
        shown = http.get("/api/shared", headers={"X-Share-Token": link["token"]}).json()
        assert shown["messages"][0]["content"] == "Pay it back."
        words = ["feedback", "give", found.failed[-8:], "down", "--comment", "Luck is\nneeded."]
        assert json.loads(runyard_here(found.folder, *words, "--json", env=there))["value"] == "down"
        for read in found.reads():
            found.answers[read] = json.loads(runyard_here(found.folder, *read.split(), "--json", env=there))
    return found


def from_the_database(found: Installation, env: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers of the verbs while there is no server."""
    reads = found.reads()
    done = subprocess.run(
        [sys.executable, "-c", EVERY_READ, *reads],
        cwd=found.folder,
        env=environment(**NO_SERVER, **env),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return dict(zip(reads, map(json.loads, done.stdout.split("\n\n")), strict=True))


def test_the_database_answers_as_its_server_did(installation: Installation) -> None:
    answers = from_the_database(installation, {})
    assert answers == installation.answers
    assert all(answers.values()), "there is something"


def test_postgres_answers_as_its_server_did(tmp_path: Path, pg_database: str) -> None:
    env = {"RUNYARD_DATABASE_URL": pg_database}
    found = filled(tmp_path, env)
    assert from_the_database(found, env) == found.answers


def test_runs_are_filtered_and_counted(installation: Installation) -> None:
    runs = installation.answers["runs list"]
    assert [(run["run_id"], run["question"]) for run in runs[1:]] == [
        (installation.failed, "Try it."),
        (installation.run, "Pay it back."),
    ]
    assert runs[2]["usage"] == {"input_tokens": 1200, "output_tokens": 34, "usd": 0.05}
    [failed] = installation.answers["runs list --error agent_error"]
    assert failed["run_id"] == installation.failed
    assert installation.said("runs", "list", "--since", "1h", "--thread", installation.thread[-8:], "--quiet") == (
        f"{installation.run}\n"
    )
    assert installation.said("runs", "list", "--status", "canceled") == "No runs\n"
    usage = installation.answers["usage"]
    assert [(row["agent"], row["runs"]) for row in usage["rows"]] == [("broken", 1), ("clerk", 2)]
    assert usage["total"]["usage"]["usd"] == pytest.approx(0.10)
    assert installation.said("usage", "--quiet") == "0.100000\n"


def test_a_run_is_shown_with_its_question_steps_tokens_and_cost(installation: Installation) -> None:
    shown = installation.said("runs", "show", installation.run[-8:])
    assert "question  Pay it back.\n" in shown
    assert "usage     1,200 tokens in, 34 out, $0.05\n" in shown
    assert "step      think finished, 1,200 tokens in, 34 out, $0.05\n" in shown
    assert installation.said("runs", "show", installation.run, "--quiet") == "done\n"


def test_feedback_is_shown_and_exported_with_its_run(installation: Installation) -> None:
    shown = installation.said("runs", "show", installation.failed)
    assert re.search(r"^feedback  down: Luck is\s+needed\.$", shown, re.M)
    lines = [json.loads(line) for line in installation.said("runs", "export").splitlines()]
    judged = {line["run"]["run_id"]: line["run"]["feedback"] for line in lines}
    assert judged[installation.failed]["comment"] == "Luck is\nneeded."
    assert judged[installation.run] is None


def test_feedback_is_given_and_deleted(installation: Installation) -> None:
    said, run = installation.said, installation.run
    assert said("feedback", "show", run) == "No feedback\n"
    assert said("feedback", "show", run, "--json", "--quiet") == "null\n"
    assert said("feedback", "give", run[:23], "up", "--comment", "Quick.") == f"{run} has the feedback up.\n"
    shown = said("feedback", "show", run[-8:])
    assert re.search(r"^comment +Quick\.$", shown, re.M), shown
    assert said("feedback", "show", run, "--quiet") == "up\n"
    assert said("feedback", "delete", run) == f"{run} has no feedback.\n"
    assert said("feedback", "show", run, "--quiet") == ""
    wrong = runyard(installation.folder, "feedback", "give", run, "sideways", env=NO_SERVER)
    assert (wrong.returncode, wrong.stderr) == (1, "runyard: Feedback is up or down, not sideways.\n")


def test_a_link_is_listed_and_revoked_and_never_shown_again(installation: Installation) -> None:
    said, thread = installation.said, installation.thread
    link = said("shares", "create", thread[-8:], "--days", "2", "--quiet").strip()
    assert link.startswith("http://127.0.0.1:9/#/shared/")
    listed = said("shares", "list", thread, "--json")
    assert link.rpartition("/")[2] not in listed
    [newest, earlier] = [share["share_id"] for share in json.loads(listed)]
    assert said("shares", "revoke", thread, newest[-8:]) == f"{newest} is revoked.\n"
    assert said("shares", "list", thread, "--quiet") == f"{earlier}\n"
    off = runyard(installation.folder, "shares", "create", thread, env={**NO_SERVER, "RUNYARD_SHARE_LINKS": "false"})
    assert off.returncode == 1
    assert "Sharing is off on this server." in off.stderr
    long = runyard(installation.folder, "shares", "create", thread, "--days", "31", env=NO_SERVER)
    assert long.returncode == 2


def test_a_channel_is_read_up_to_a_message(installation: Installation) -> None:
    said = installation.said
    [first] = said("channels", "show", "pier", "--quiet").split()
    assert said("channels", "unread") == "No unread messages\n", "a message of the caller does not count"
    assert "pier" in said("channels", "unread", "--all")
    marked = json.loads(said("channels", "mark-read", "#pier", "--json"))
    assert marked["message_id"] == first
    assert said("channels", "mark-read", "pier", "--message", first[-8:], "--quiet") == ""
    assert first in said("channels", "unread", "--all")


def test_a_list_of_runs_refreshes_itself_in_a_terminal(installation: Installation) -> None:
    with terminal(installation.folder, "runs", "list", "--watch", "--limit", "1", env=NO_SERVER) as person:
        for _ in range(2):
            person.until("Good morning.")
        person.type("\x03")
        assert person.ended() == 130


def test_objects_are_shown_and_deleted_by_short_ids_and_names(installation: Installation) -> None:
    said = installation.said
    assert "Pay it back.\n\nassistant" in said("threads", "show", installation.thread[-8:])
    assert "[Pay] it back." in said("threads", "search", "pay")
    assert said("threads", "rename", installation.thread[-8:], "The refund") == f"{installation.thread} is renamed.\n"
    assert said("threads", "export", installation.thread[-8:]).startswith("# The refund\n\n## user, ")
    exported = json.loads(said("threads", "export", installation.thread[-8:], "--json"))
    assert (exported["title"], exported["messages"][0]["content"]) == ("The refund", "Pay it back.")
    assert said("memory", "show", "clerk", installation.passage[-8:]) == "Bob sells boats.\n"
    for given in (installation.oldest_passage, installation.oldest_passage[-8:]):
        assert said("memory", "show", "broken", given) == "Note 0.\n", "it is not among the newest 100"
    for verb, label in (("show", "contact"), ("delete", "contact"), ("show", "mistyped-label"), ("delete", "0" * 36)):
        wrong = runyard(installation.folder, "memory", verb, "clerk", label, env=NO_SERVER)
        assert f"clerk has no block and no passage {label}." in wrong.stderr
    assert said("memory", "delete", "clerk", installation.passage[-10:]) == f"{installation.passage} is deleted.\n"
    assert said("memory", "delete", "clerk", "contacts", "--quiet") == ""
    assert said("memory", "list", "clerk") == "clerk remembers nothing\n"
    assert said("channels", "delete", "#pier", "--quiet") == ""
    [dm] = json.loads(said("channels", "list", "--json"))
    assert (dm["kind"], [member["id"] for member in dm["participants"]]) == ("dm", ["clerk", "local"])
    assert said("threads", "delete", installation.thread[-8:]) == f"{installation.thread} is deleted.\n"
    assert installation.thread not in said("threads", "list", "--quiet")
    assert said("agents", "delete", "broken") == "broken is inactive.\n"
    assert said("agents", "list", "--quiet") == "clerk\n"
    assert said("agents", "list", "--quiet", "--inactive") == "broken\nclerk\n"
    key = said("keys", "create", "--owner", "ann", "--quiet").strip().split("_")[1]
    assert json.loads(said("keys", "revoke", key[:8], "--json"))["key_id"] == key
    absent = runyard(installation.folder, "channels", "show", "nothing-like-it", env=NO_SERVER)
    assert (absent.returncode, absent.stdout) == (1, "")
