"""A fake of the network: it holds one run's log and fails as the test says."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx2
import msgspec

Handler = Callable[[httpx2.Request], httpx2.Response]


def event(seq: int, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "run_id": "r",
        "seq": seq,
        "id": f"e{seq}",
        "ts": seq,
        "type": kind,
        "v": 1,
        "source": "worker",
        "data": data,
    }


LOG = [
    event(1, "run.queued", agent="a"),
    event(2, "tool.started", call_id="c", tool="t", input={}),
    event(3, "tool.finished", call_id="c", tool="t", output={}),
    event(4, "model.token", text="Grüße, "),
    event(5, "model.token", text="🦜"),
    event(6, "run.output", text="Grüße, 🦜", sources=[], outputs={}),
    event(7, "run.finished", status="done", stop_reason="end_turn"),
]


def frame(entry: dict[str, Any]) -> bytes:
    head = f"id: {entry['seq']}\nevent: {entry['type']}\n".encode()
    return head + b"data: " + msgspec.json.encode(entry) + b"\n\n"


class Body(httpx2.AsyncByteStream):
    """Chunks, and then a clean end or a cut."""

    def __init__(self, chunks: Sequence[bytes], broken: Exception | None = None) -> None:
        self._chunks = chunks
        self._broken = broken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._broken is not None:
            raise self._broken


def stream(chunks: Sequence[bytes], broken: Exception | None = None) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Body(chunks, broken))


def after_of(request: httpx2.Request) -> int:
    return int(request.headers.get("last-event-id", "0"))


def problem(status: int, code: str, detail: str) -> httpx2.Response:
    body = {"type": f"urn:runyard:{code}", "title": "x", "status": status, "code": code, "detail": detail}
    return httpx2.Response(
        status, headers={"content-type": "application/problem+json"}, content=msgspec.json.encode(body)
    )


class FakeServer(httpx2.AsyncBaseTransport):
    """Answers each request by the next of `faults` (an answer, or an error to raise) and, once they are used up, as a
    server would."""

    def __init__(self, *faults: Handler | Exception, status: str = "done") -> None:
        self.faults = list(faults)
        self.requests: list[httpx2.Request] = []
        self.bodies: list[bytes] = []
        self.status = status
        self.log = LOG

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        self.bodies.append(await request.aread())
        if self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, Exception):
                raise fault
            return fault(request)
        if request.url.path.endswith("/log"):
            return stream([frame(entry) for entry in self.log if entry["seq"] > after_of(request)])
        if request.url.path == "/api/runs/r":
            row = {"run_id": "r", "thread_id": "t", "status": self.status, "created_at": "2026-01-01T00:00:00.000Z"}
            return httpx2.Response(200, content=msgspec.json.encode(row))
        return problem(404, "not_found", "There is nothing with that id.")
