"""A server whose objects, ids and times never change: what commands print about them can be compared with a file."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from runyard.base.ids import first_id_at
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

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONG = "Which of our customers in the north bought more than three boats last year, and who sold them?"
WIDE = "日本の首都はどこですか。そこには何人が住んでいますか。昨年は何隻の船が売れましたか。"


def ago(**since: float) -> str:
    return (NOW - timedelta(**since)).isoformat()


def an_id(number: int) -> str:
    return f"01a1e52c-90ef-716f-aa47-9cf6bf642c{number:02x}"


def id_made(**since: float) -> str:
    """Return an id that tells this time: the newer id of a thread and its newest run is its last activity."""
    return first_id_at(int((NOW - timedelta(**since)).timestamp() * 1000))


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
        agent="researcher-of-the-north", question=WIDE, error_code="model_timed_out",
        error="The model did not respond in time.", usage=UsageInfo(2_500_000, 40_000, 17.5),
    ),
    RunInfo(
        run_id=an_id(11), status="done", created_at=ago(hours=31), started_at=ago(hours=31), finished_at=ago(hours=31),
        agent="helper", parent_run_id=an_id(4), usage=UsageInfo(1, 1, 99.0),
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
    "output": {"text": f"Three of them.\n\n{LONG} {WIDE}"},
}
ASKED: dict[str, Any] = {
    "run_id": an_id(1), "call_id": "c", "state": "pending", "created_at": ago(minutes=3), "agent": "clerk",
    "question": f"Pay it back, please. {LONG}",
}  # fmt: skip
REFUND = {"order": "A-17", "amount": 5.0, "why": f"{LONG} {WIDE} {LONG}"}
APPROVAL = ApprovalInfo(approval_id=f"approval_{an_id(5)}", kind="tool", tool="refund", input=REFUND, **ASKED)
WAITS = [
    WaitInfo(wait_id=APPROVAL.approval_id, kind="tool", name="refund", input=REFUND, **ASKED),
    WaitInfo(wait_id=f"wait_{an_id(6)}", kind="question", name="ask", prompt=LONG, **ASKED),
    WaitInfo(wait_id=f"wait_{an_id(7)}", kind="question", name="ask", prompt=WIDE, **ASKED),
]
OVERVIEW = OverviewInfo(
    queued=3, oldest_waiting_ms=12_000, running=2, approvals_waiting=1, outbox=OutboxInfo(2, 900),
    workers=[WorkerInfo("pod-1", 25_000, 2), WorkerInfo("pod-2", -1, 0)], pod=PodInfo(open_streams=7),
    database=DatabaseInfo("PostgreSQL 17.2", 1.25, -3, 123_456_789, 1000),
)  # fmt: skip
KEY = KeyInfo(
    key_id="k3x9q2m8w1zz", owner="ann@example.com", scopes=["approve", "read", "write"], created_at=ago(days=3),
    expires_at=(NOW + timedelta(days=87)).isoformat(), label="the laptop in the office on the second floor",
)  # fmt: skip
THREADS = [
    ThreadInfo(
        thread_id=id_made(hours=3), created_at=ago(hours=3), agent="clerk", head_run_id=id_made(minutes=5),
        title=LONG[:80],
    ),
    ThreadInfo(  # a fork
        thread_id=id_made(hours=4), created_at=ago(hours=4), agent="clerk", head_run_id=id_made(hours=5), title=WIDE
    ),
]  # fmt: skip
HIT = FoundMessage(
    thread_id=an_id(2), message_id=an_id(7), role="user", created_at=ago(hours=3), text=LONG[:200], marks=[(0, 5)]
)
SAID = [
    ThreadMessage(id=an_id(7), role=role, content=content, created_at=ago(minutes=9))
    for role, content in (("user", f"{LONG} {WIDE} {LONG}"), ("assistant", "Three of them:\n- ann\n- bob"))
]
MEMBERS = [MemberInfo(name, "agent") for name in ("mara", "teo", "ilse", "pip", "nadia", "boro")]
CHANNEL = ChannelInfo(id=an_id(8), name="pier", kind="public", topic=LONG, members=MEMBERS, created_at=ago(days=9))
DM = ChannelInfo(id=an_id(9), participants=MEMBERS[:2], created_at=ago(days=1))
UNREAD = [
    UnreadInfo(unread=100, channel_id=CHANNEL.id),
    UnreadInfo(unread=2, dm_conversation_id=DM.id, read_message_id=an_id(7)),
]
SHARE = ShareInfo(share_id=an_id(12), created_at=ago(days=2), expires_at=(NOW + timedelta(days=5)).isoformat())
FEEDBACK = FeedbackInfo(value="down", comment=f"{LONG}\nNone of them.", created_at=ago(hours=2))
MARA = AgentInfo(
    id="mara", model_id="openai/gpt-x-large", max_turns=5, max_budget_usd=0.1, title="Harbour master", is_declared=True,
    system_prompt=LONG,
)  # fmt: skip
BLOCK = BlockInfo(label="contacts", content=LONG, owner_id="mara", updated_at=ago(hours=5), is_shared=True)
PASSAGE = PassageInfo(id=an_id(10), content=f"{LONG} {WIDE}", created_at=ago(days=2), tags=["boats", "north"])

ANSWERS: Mapping[str, object] = {
    "/health": {},
    "/api/runs": {"runs": RUNS},
    f"/api/runs/{an_id(3)}": RUNS[1],
    f"/api/runs/{an_id(3)}/state": STATE,
    f"/api/runs/{an_id(3)}/feedback": {"feedback": FEEDBACK},
    f"/api/runs/{an_id(1)}/feedback": {"feedback": None},
    "/api/approvals": {"approvals": [APPROVAL]},
    "/api/waits": {"waits": WAITS},
    f"/api/waits/{WAITS[0].wait_id}": WAITS[0],
    f"/api/waits/{WAITS[1].wait_id}": WAITS[1],
    "/api/overview": OVERVIEW,
    "/api/keys": {"keys": [KEY]},
    "/api/threads": {"threads": THREADS},
    f"/api/threads/{an_id(2)}": {"messages": SAID},
    f"/api/threads/{an_id(2)}/shares": {"shares": [SHARE]},
    "/api/search": {"messages": [HIT]},
    "/api/channels": {"channels": [CHANNEL]},
    "/api/dms": {"dms": [DM]},
    "/api/unread": {"conversations": UNREAD},
    "/api/agents": {"agents": [MARA, AgentInfo(id="old", is_active=False)]},
    "/api/agents/mara": MARA,
    "/api/agents/mara/memory": {"blocks": [BLOCK]},
    "/api/agents/mara/passages": {"passages": [PASSAGE]},
}
IDS = {"run": [run.run_id for run in RUNS], "thread": [an_id(2)], "wait": [wait.wait_id for wait in WAITS]}
ABSENT = {"code": "not_found", "detail": "There is no object with that id."}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        query = parse_qs(asked.query)
        answer: object = {} if "before" in query else ANSWERS.get(asked.path)  # a list has one page
        if asked.path == "/api/ids":
            answer = {"ids": [each for each in IDS[query["kind"][0]] if each.endswith(query["part"][0])]}
        body = msgspec.json.encode(ABSENT if answer is None else answer)
        self.send_response(404 if answer is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def fixed_server() -> Iterator[str]:
    """Serve the answers, and give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="fixed server", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
