"""A model server that speaks `/v1/chat/completions` on loopback, for clients that ask again after a crash.

The last message of the user holds the turns as JSON. Each request gets the turn that its conversation has reached, so a
repeated request gets the same answer. `asked` has the number of that turn for every request.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeChatApi(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[int] = []
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: FakeChatApi

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number, turn = _turn(request["messages"])
        self.server.requests.append(request)
        self.server.asked.append(number)
        if not request.get("stream"):
            self._send_whole(turn)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for delta, finish in _deltas(number, turn):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self._send({"choices": [choice]})
        self._send({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send_whole(self, turn: Mapping[str, Any]) -> None:
        """Answer a request that does not stream, with text only."""
        message = {"role": "assistant", "content": "".join(turn["text"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())
        self.close_connection = True

    def _send(self, body: dict[str, Any]) -> None:
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **body}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        pass


def _turn(messages: list[dict[str, Any]]) -> tuple[int, Mapping[str, Any]]:
    asked = max(place for place, message in enumerate(messages) if message["role"] == "user")
    number = sum(message["role"] == "assistant" for message in messages[asked:])
    turn: Mapping[str, Any] = json.loads(messages[asked]["content"])[number]
    return number, turn


def _deltas(number: int, turn: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    for piece in turn.get("text", ()):
        yield {"role": "assistant", "content": piece}, None
    for place, (tool, given) in enumerate(turn.get("calls", ())):
        function = {"name": tool, "arguments": json.dumps(given)}
        yield {"tool_calls": [{"index": place, "id": f"call_{number}_{place}", "function": function}]}, None
    yield {}, "tool_calls" if turn.get("calls") else "stop"


@contextmanager
def fake_chat_api() -> Iterator[FakeChatApi]:
    server = FakeChatApi()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
