"""The commands of docs/plans.md, chats.md, channels.md, access.md and runbook.md do what those pages say."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.flow import Flow
from tests.support.session.missing_programs import need

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(sys.executable).parent
DASHES = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    found = DASHES.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


async def shell(flow: Flow, script: str, **variables: str) -> str:
    """Run the lines as a user would paste them, and stop at the first line that fails."""
    need("curl")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RUNYARD_")}
    ours, port = {"RUNYARD_DATABASE_URL": flow.database.url}, "0"
    if flow.apis:
        port = flow.api.url.rpartition(":")[2]
        ours |= {"RUNYARD_URL": flow.api.url, "RUNYARD_PORT": port}
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    script = "set -euo pipefail\n" + script.replace("localhost:8000", f"127.0.0.1:{port}").replace(" || true", "")
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", script, cwd=flow.folder, env={**kept, **ours, **variables, "PATH": path},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, f"{out.decode()}\n{err.decode()}"
    await eventually("what the commands started has ended", lambda: _is_calm(flow))
    return out.decode()


async def _is_calm(flow: Flow) -> bool:
    """The checker looks at one table after the other, so nothing may be under way."""
    return not await flow.database.rows("select id from runs where status in ('queued', 'running')")


def ids(text: str) -> list[int]:
    return [int(seq) for seq in re.findall(r"id: (\d+)\n", text)]


@pytest.mark.req("S4.43")
async def test_the_commands_of_the_page_on_plans(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    [script] = blocks("plans.md", "sh")
    said = await shell(flow, script)
    assert '{"runId":"try-1","status":"accepted"}' in said
    assert ids(said) == [*range(1, 14), *range(6, 14)]
    assert re.search(r'"state":"finished",.*"lastSeq":13,"nextSeq":14', said)


@pytest.mark.req("S1.57", "S1.58")
async def test_the_commands_of_the_page_on_chats(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve", app=ROOT / "examples" / "chat.py")
    said = await shell(flow, "\n".join(blocks("chats.md", "sh")))
    first, approved, cancelled = (text.split("\n\n") for text in (said, *files(flow, "second", "third")))
    assert [line for line in first[0].splitlines() if line.startswith("event")] == ["event: interaction_started"]
    assert '"type":"ANSWER","content":"You said: hello (0 messages before)"' in said
    assert '"final_agent_state":{"messages":[{"role":"user","content":"hello"}' in said
    assert names(approved) == [
        "approval_required",
        "approved",
        "tool_call",
        "tool_result",
        "answer",
        "interaction_complete",
    ]
    assert names(cancelled) == ["cancelled", "interaction_complete"]
    assert '"status":"processed"' in said
    assert '"message":"Interaction will stop at next checkpoint"' in said
    assert "You said: good morning (0 messages before)" in said
    active, everything = said.strip().rpartition('{"id":"chat_123"')[0], said.rpartition('{"id":"chat_123"')[2]
    assert active.rpartition('{"id":"chat_123"')[2].count('"user_message"') == 1
    assert everything.count('"user_message"') == 4


def files(flow: Flow, *wanted: str) -> list[str]:
    return [(flow.folder / f"{name}.txt").read_text(encoding="utf-8") for name in wanted]


def names(frames: list[str]) -> list[str]:
    """The events of a stream, from the first that is no thinking on."""
    found = [
        line.removeprefix("event: ") for text in frames for line in text.splitlines() if line.startswith("event: ")
    ]
    return [name for name in found if name not in ("interaction_started", "thinking")]


@pytest.mark.req("S3.1", "S3.18", "S3.40")
async def test_the_commands_of_the_page_on_channels(sqlite_flow: Flow) -> None:
    """On the app of `make run`."""
    flow = sqlite_flow
    at_once: dict[str, Any] = {"group_pause_min_seconds": 0, "group_pause_max_seconds": 0}
    await flow.start("serve", app=ROOT / "examples" / "tour.py", **at_once)
    saying, looking = blocks("channels.md", "sh")
    channel = (await shell(flow, f'{saying}\necho " $CHANNEL"')).split()[-1]
    answers = (await shell(flow, looking, CHANNEL=channel)).replace("}{", "}\n{").splitlines()
    messages, memory, runs = (json.loads(answer) for answer in answers)
    assert [(message["userId"], message["text"]) for message in messages["messages"]] == [
        ("local", "There is fog. What does a ticket cost?"),
        ("mara", "Fog is noted. The Gannet leaves an hour later."),
        ("ilse", "A ticket is 12 crowns, a bicycle rides for free."),
    ]
    assert [(block["label"], block["content"]) for block in memory["blocks"]] == [("weather", "Fog in the strait.")]
    assert [(run["status"], run["stopReason"]) for run in runs["runs"]] == [("completed", "end_turn")]


async def test_the_commands_of_the_page_on_access(any_flow: Flow) -> None:
    flow = any_flow
    first, using = blocks("access.md", "sh")
    key = (await shell(flow, f'{first}echo "$RUNYARD_API_KEY"')).strip()
    assert re.fullmatch(r"ry_[0-9a-z]{12}_[0-9A-Za-z]{43}", key)
    await flow.start("serve", keys="needed", app=ROOT / "examples" / "chat.py")
    said = await shell(flow, using, RUNYARD_API_KEY=key)
    assert said.index('{"thread_id":') < said.index('{"threads":[{"thread_id":')
    assert re.findall(r"^([45]\d\d)$", said.replace("}", "}\n"), re.M) == ["401", "404", "401"]
    assert "lacks the scope `write`" in said
    for word in ("No runs", "alice's laptop", "valid for 8", "is revoked"):
        assert word in said
    [program] = blocks("access.md", "python")
    answer = await shell(flow, f"{sys.executable} - <<'END'\n{program}END", RUNYARD_API_KEY=key)
    assert answer == "You said: hello (0 messages before)\n"


@pytest.mark.req("S4.43")
async def test_the_commands_of_the_runbook(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.start_plan("device", "try-1")
    await flow.published(run_id)
    said = await shell(flow, "\n".join(blocks("runbook.md", "sh")), RUN="try-1")
    assert '"serverRunId":"' + run_id in said
    assert ids(said) == [*range(1, 14), *range(1, 14)]
    for word in ("EnsureDevice finished", "workers", "No pending approvals", '"status":"accepted"'):
        assert word in said
    assert said.endswith("done\n")


@pytest.mark.req("S4.43")
async def test_the_questions_of_the_runbook_to_the_database(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.start_plan("held", "stuck")
    await flow.at_gate("OpenApp")
    await flow.published(run_id)
    queries = [query for block in blocks("runbook.md", "sql") for query in block.split(";") if query.strip()]
    assert len(queries) == 5
    [where], [log], [behind], [worker], [lane] = [
        await flow.database.rows(query.replace("'RUN'", f"'{run_id}'")) for query in queries
    ]
    assert (where["last_seq"], where["next_seq"], where["unpublished"], where["state"]) == (7, 8, 0, "started")
    assert (log["events"], log["first_seq"], log["last_seq"]) == (7, 1, 7)
    assert behind["runs_behind"] == 0
    assert worker["lease_until"] > 0
    assert lane["active_run"] == run_id
    flow.notes.open_gate("OpenApp")
    await flow.reached(run_id, "done")
