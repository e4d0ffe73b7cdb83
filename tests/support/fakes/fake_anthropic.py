"""A fake of Anthropic's Messages API on loopback: it answers with the turns that a test gives it, as the API streams
them, and records the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeAnthropic(ThreadingHTTPServer):
    """Each request takes the next turn, the last one again and again: `{"text": ..., "calls": [{"tool", "input"}]}`, or
    `{"status": 529}`. `hold` keeps an answer back until it is set."""

    daemon_threads = True

    def __init__(self, turns: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.turns = list(turns)
        self.asked: list[dict[str, Any]] = []
        self.hold = threading.Event()
        self.hold.set()

    def handle_error(self, *_: Any) -> None:
        """A client that was killed has hung up."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that point a client here."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "sk-fake"}

    def next_turn(self, asked: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append(asked)
        return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        assert isinstance(self.server, FakeAnthropic)
        if self.path.partition("?")[0] != "/v1/messages":
            return self._send(404, b"{}", "application/json")
        turn = self.server.next_turn(asked)
        self.server.hold.wait(60)
        if "status" in turn:
            error = {"type": "error", "error": {"type": "api_error", "message": "on purpose"}}
            return self._send(turn["status"], json.dumps(error).encode(), "application/json")
        number = len(self.server.asked)
        frames = [
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(asked["model"], turn, number)
        ]
        return self._send(200, "".join(frames).encode(), "text/event-stream")

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._send(404, b"{}", "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


def _events(model: str, turn: Mapping[str, Any], number: int) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 7, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield {"type": "message_start", "message": message}
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if turn.get("text"):
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": turn["text"]}))
    for place, call in enumerate(turn.get("calls", ()), 1):
        block = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call["tool"], "input": {}}
        given = json.dumps(call.get("input", {}))
        blocks.append((block, {"type": "input_json_delta", "partial_json": given}))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    why = "tool_use" if turn.get("calls") else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 3}}
    yield {"type": "message_stop"}


@contextmanager
def fake_anthropic(*turns: Mapping[str, Any]) -> Iterator[FakeAnthropic]:
    server = FakeAnthropic(turns)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
