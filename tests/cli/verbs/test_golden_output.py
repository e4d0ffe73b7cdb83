"""The output of commands in terminals of 80 and 200 columns, compared with tests/cli/verbs/golden.

`WRITE_GOLDEN=1 pytest tests/cli/verbs/test_golden_output.py` writes the files again; look at the difference.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runyard.cli import program
from runyard.cli.parsing.commands import Exit
from runyard.cli.terminal import conversation_tables, tables, text
from runyard.cli.terminal.output import echo, unstyled
from runyard.cli.verbs.status import overview, overview_rows
from runyard.cli.verbs.usage import counted
from runyard.client.annotation_wire import ShareInfo, UnreadInfo
from runyard.client.wire import (
    AgentInfo,
    ApprovalInfo,
    BlockInfo,
    ChannelInfo,
    DatabaseInfo,
    FeedbackInfo,
    FoundMessage,
    KeyInfo,
    MemberInfo,
    OutboxInfo,
    OverviewInfo,
    PassageInfo,
    PodInfo,
    RunInfo,
    ThreadInfo,
    ThreadMessage,
    UsageInfo,
    WaitInfo,
    WorkerInfo,
)

pytestmark = pytest.mark.in_process

GOLDEN = Path(__file__).parent / "golden"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONG = "Which of our customers in the north bought more than three boats last year, and who sold them?"


def ago(**since: float) -> str:
    return (NOW - timedelta(**since)).isoformat()


def an_id(number: int) -> str:
    return f"01a1e52c-90ef-716f-aa47-9cf6bf642c{number:02x}"


RUNS = [
    RunInfo(
        run_id=an_id(1), status="running", waiting=True, created_at=ago(seconds=42), started_at=ago(seconds=40),
        agent="clerk", question="Pay it back, please.", last_seq=17, thread_id=an_id(2),
    ),
    RunInfo(
        run_id=an_id(3), status="done", created_at=ago(minutes=5), started_at=ago(minutes=5),
        finished_at=ago(minutes=4, seconds=48.5), agent="cv-screener", question=LONG, last_seq=140,
        thread_id=an_id(2), usage=UsageInfo(12_345, 678, 0.0421), stop_reason="end_turn",
    ),
    RunInfo(
        run_id=an_id(4), status="error", created_at=ago(hours=30), started_at=ago(hours=30), finished_at=ago(hours=29),
        agent="researcher-of-the-north", question="日本の首都はどこですか", error_code="model_timed_out",
        error="The model did not respond in time.", usage=UsageInfo(2_500_000, 40_000, 17.5),
    ),
]  # fmt: skip
STATE = {
    "status": "done",
    "stop_reason": "end_turn",
    "agent": "cv-screener",
    "last_seq": 140,
    "usage": {"input_tokens": 12_345, "output_tokens": 678, "usd": 0.0421},
    "steps": [
        {"name": "think", "finished": True, "started_seq": 3, "usage": {"input_tokens": 12_000, "output_tokens": 600}},
        {"name": "rank", "error": "ValueError", "started_seq": 9, "traceback": "Traceback:\n  x"},
    ],
    "calls": [
        {"tool": "search_documents", "status": "finished", "ms": 1234, "started_seq": 6, "input": {"query": LONG}},
        {"tool": "mail", "status": "waiting", "input": {"to": "ann@example.com"}},
    ],
    "output": {"text": f"Three of them.\n\n{LONG} {LONG}"},
}  # fmt: skip


def print_everything() -> None:
    _print_runs()
    _print_questions_and_keys()
    _print_conversations()


def _title(command: str) -> None:
    echo(f"\n$ runyard {command}")


def _print_runs() -> None:
    _title("runs list")
    tables.runs_table(RUNS).echo()
    _title("runs list")
    tables.runs_table(RUNS[:2]).echo()
    _title("runs show")
    tables.print_run(RUNS[1], STATE)
    _title("usage")
    child = RunInfo(
        run_id=an_id(11), status="done", created_at=ago(hours=1), agent="helper", parent_run_id=an_id(3),
        usage=UsageInfo(1, 1, 99.0),
    )  # fmt: skip
    rows, total = counted([*RUNS, child], "agent")  # the usage of a child is in that of its parent
    conversation_tables.usage_table("agent", [*rows.items(), ("total", total)]).echo()
    _title("status")
    found = OverviewInfo(
        queued=3, oldest_waiting_ms=12_000, running=2, approvals_waiting=1, outbox=OutboxInfo(2, 900),
        workers=[WorkerInfo("pod-1", 25_000, 2), WorkerInfo("pod-2", -1, 0)], pod=PodInfo(open_streams=7),
        database=DatabaseInfo("PostgreSQL 17.2", 1.25, -3, 123_456_789, 1000),
    )  # fmt: skip
    overview(overview_rows(found)).echo()


def _print_questions_and_keys() -> None:
    _title("approvals list")
    known: dict[str, Any] = {"run_id": an_id(1), "call_id": "c", "state": "pending", "created_at": ago(minutes=3)}
    asked = ApprovalInfo(
        approval_id=f"approval_{an_id(5)}", kind="tool", tool="refund", input={"order": "A-17", "why": LONG}, **known
    )
    tables.approvals_table([asked]).echo()
    _title("waits list")
    wait = WaitInfo(wait_id=f"wait_{an_id(6)}", kind="question", name="ask", prompt=LONG, **known)
    tables.waits_table([wait]).echo()
    _title("waits show")
    tables.print_wait(wait)
    _title("keys list")
    key = KeyInfo(
        key_id="k3x9q2m8w1zz", owner="ann@example.com", scopes=["approve", "read", "write"], created_at=ago(days=3),
        expires_at=(NOW + timedelta(days=87)).isoformat(), label="the laptop in the office on the second floor",
    )  # fmt: skip
    tables.keys_table([key]).echo()


def _print_conversations() -> None:
    _title("threads list")
    conversation_tables.threads_table(
        [ThreadInfo(thread_id=an_id(2), created_at=ago(hours=3), agent="clerk", head_run_id=an_id(1), title=LONG[:80])]
    ).echo()
    _title("threads search")
    hit = FoundMessage(
        thread_id=an_id(2), message_id=an_id(7), role="user", created_at=ago(hours=3), text=LONG[:200], marks=[(0, 4)]
    )
    conversation_tables.found_table([hit]).echo()
    _title("threads show")
    said = [("user", LONG), ("assistant", "Three of them:\n- ann\n- bob")]
    conversation_tables.print_thread_messages(
        ThreadMessage(id=an_id(7), role=role, content=content, created_at=ago(minutes=9)) for role, content in said
    )
    _title("channels list")
    members = [MemberInfo(name, "agent") for name in ("mara", "teo", "ilse", "pip", "nadia", "boro")]
    channel = ChannelInfo(id=an_id(8), name="pier", kind="public", topic=LONG, members=members, created_at=ago(days=9))
    dm = ChannelInfo(id=an_id(9), participants=members[:2], created_at=ago(days=1))
    conversation_tables.channels_table([channel, dm]).echo()
    _print_annotations(channel, dm)
    _title("agents list")
    agent = AgentInfo(
        id="mara", model_id="openai/gpt-x-large", max_turns=5, max_budget_usd=0.1, title="Harbour master",
        is_declared=True, system_prompt=LONG,
    )  # fmt: skip
    conversation_tables.agents_table([agent, AgentInfo(id="old", is_active=False)]).echo()
    _title("agents show")
    conversation_tables.print_agent(agent)
    _title("memory list")
    block = BlockInfo(label="contacts", content=LONG, owner_id="mara", updated_at=ago(hours=5), is_shared=True)
    passage = PassageInfo(id=an_id(10), content=f"{LONG} {LONG}", created_at=ago(days=2), tags=["boats", "north"])
    conversation_tables.memory_table("mara", [block], [passage]).echo()
    for words in ([], ["runs"], ["runs", "list"], ["chat"]):
        _title(" ".join([*words, "--help"]))
        with pytest.raises((Exit, SystemExit)):
            program.run("runyard", [*words, "--help"])


def _print_annotations(channel: ChannelInfo, dm: ChannelInfo) -> None:
    _title("channels unread")
    read = UnreadInfo(unread=2, dm_conversation_id=dm.id, read_message_id=an_id(7))
    unread = [UnreadInfo(unread=100, channel_id=channel.id), read]
    conversation_tables.unread_table(unread, {each.id: each for each in (channel, dm)}).echo()
    _title("shares list")
    share = ShareInfo(share_id=an_id(12), created_at=ago(days=2), expires_at=(NOW + timedelta(days=5)).isoformat())
    conversation_tables.shares_table([share]).echo()
    _title("feedback show")
    comment = f"{LONG}\nNone of them."
    conversation_tables.print_feedback(FeedbackInfo(value="down", comment=comment, created_at=ago(hours=2)))
    conversation_tables.print_feedback(None)


@pytest.mark.parametrize("columns", [80, 200])
def test_the_output_is_as_it_was(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(text, "now", lambda: NOW)
    print_everything()
    printed = unstyled(capsys.readouterr().out)
    file = GOLDEN / f"{columns}_columns.txt"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(printed, encoding="utf-8")
    assert printed == file.read_text(encoding="utf-8")
    assert [line for line in printed.splitlines() if len(line) > columns] == []


def test_every_verb_has_json_and_quiet() -> None:
    for name, command in program.commands("runyard"):
        flags = {flag for parameter in command.parameters for flag in parameter.flags}
        assert {"--json", "--quiet"} <= flags, name
