"""An HTTP server with the standard library that implements the contract, and ways to break it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TASK = "STRANGE"
Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer, byte for byte. `then` is called before its end; `cut` closes the connection early."""

    status: int = 200
    kind: str = "application/json"
    body: bytes = b""
    then: Callable[[], None] = lambda: None
    cut: bool = False
    headers: dict[str, str] = field(default_factory=dict)


def as_json(value: Any, status: int = 200) -> Reply:
    return Reply(status, body=json.dumps(value).encode())


def event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def as_stream(*frames: bytes) -> Reply:
    return Reply(kind="text/event-stream", body=b"".join(frames))


def envelope(asked: Body, **other: Any) -> Body:
    ids = {"request_id": asked.get("request_id"), "task_type": asked.get("task_type")}
    return {**ids, "status": "ok", "outputs": {"answer": 42}, "warnings": [], **other}


def refusal(asked: Body, **other: Any) -> Body:
    known = asked.get("request_id", "none")
    return {"request_id": known, "ok": False, "outputs": {}, "warnings": ["REFUSED"], **other}


def frames(asked: Body, **other: Any) -> list[bytes]:
    ids = {"request_id": asked.get("request_id"), "task_type": asked.get("task_type")}
    return [event("started", ids), event("progress", {"percent": 50}), event("final", envelope(asked, **other))]


@dataclass(frozen=True)
class Behaviour:
    health: Callable[[], Reply] = lambda: as_json({"status": "ok"})
    ready: Callable[[], Reply] = lambda: as_json({"status": "ready"})
    sync: Callable[[Body], Reply] = lambda asked: as_json(envelope(asked))
    stream: Callable[[Body], Reply] = lambda asked: as_stream(*frames(asked))
    unknown: Callable[[Body], Reply] = lambda asked: as_json(refusal(asked), 400)
    broken: Callable[[Body], Reply] = lambda asked: as_json(refusal(asked), 422)
    unknown_stream: Callable[[Body], Reply] | None = None
    broken_stream: Callable[[Body], Reply] | None = None

    def but(self, **other: Callable[..., Reply]) -> "Behaviour":
        return replace(self, **other)


GOOD = Behaviour()


class Agent:
    """A running server. `asked`: all request bodies; `headers`: those of the last request."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.asked: list[Body] = []
        self.headers: dict[str, str] = {}
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _reply(self, path: str, asked: Body | None) -> Reply:
        behaviour = self.behaviour
        if asked is None:
            return {"/health": behaviour.health, "/health/ready": behaviour.ready}[path]()
        streams = path.endswith("/stream")
        if "request_id" not in asked:
            return (behaviour.broken_stream if streams and behaviour.broken_stream else behaviour.broken)(asked)
        if asked["task_type"] != TASK:
            return (behaviour.unknown_stream if streams and behaviour.unknown_stream else behaviour.unknown)(asked)
        return (behaviour.stream if streams else behaviour.sync)(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send(agent._reply(self.path, None))

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                agent.asked.append(asked)
                agent.headers = {name.lower(): value for name, value in self.headers.items()}
                self._send(agent._reply(self.path, asked))

            def _send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                self.send_header("content-type", reply.kind)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.cut or reply.kind == "application/json":
                    self.send_header("content-length", str(len(reply.body) + 10 * reply.cut))
                self.end_headers()
                self.wfile.write(reply.body)
                self.wfile.flush()
                reply.then()

        return Handler


@contextmanager
def served(behaviour: Behaviour = GOOD) -> Iterator[Agent]:
    agent = Agent(behaviour)
    thread = threading.Thread(target=agent._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield agent
    finally:
        agent.stopped.set()
        agent._server.shutdown()
        agent._server.server_close()
        thread.join()
