"""A client of the plans face."""

import re
from typing import Any

from tests.faces.samples.agents_for_tests import NODES
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream

_TIME = re.compile(rb'"ts":(\d{13}),')


async def start(server: Server, run_id: str | None = None, plan: str | None = None) -> str:
    """Start a run and return its runId."""
    body = {"runId": run_id, "plan": plan}
    answer = await server.http.post("/agents/runs", json={name: value for name, value in body.items() if value})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["runId"])


async def stream_to_end(server: Server, run_id: str, from_seq: int = 0) -> RawStream:
    stream = await server.whole_stream(f"/agents/runs/{run_id}/stream?fromSeq={from_seq}")
    assert stream.ended_cleanly
    return stream


async def seen(server: Server, run_id: str) -> dict[str, Any]:
    answer = await server.http.get(f"/agents/runs/{run_id}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def event_names(stream: RawStream) -> list[str]:
    """Return each event as its type and its name: `NodeStarted Ping`."""
    events = [frame.json for frame in stream.frames]
    return [" ".join([event["type"], *(event[key] for key in ("name", "fn") if key in event)]) for event in events]


def without_times(body: bytes) -> bytes:
    """Return the bytes of a stream with TS in place of every time."""
    return _TIME.sub(b'"ts":TS,', body)


REFERENCE = [
    "RunStarted",
    "NodeStarted EnsureDevice",
    "DebugTrace ensureDevice.check",
    "NodeFinished EnsureDevice",
    *(f"{what} {node}" for node in NODES[1:] for what in ("NodeStarted", "NodeFinished")),
    "RunFinished",
]
