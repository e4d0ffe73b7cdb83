"""The data that Sentry gets, decoded by a sink on loopback: traces, counters, decisions."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runyard.base.ids import new_id
from runyard.telemetry.spans import Tracer

pytest.importorskip("sentry_sdk")

Item = tuple[str, Any]


class Sink(ThreadingHTTPServer):
    """Keeps the items of the envelopes that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.items: list[Item] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        lines = [line for line in body.split(b"\n") if line][1:]
        assert isinstance(self.server, Sink)
        self.server.items += [
            (json.loads(head)["type"], json.loads(data)) for head, data in zip(lines[::2], lines[1::2], strict=True)
        ]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def sink() -> Iterator[Sink]:
    sink = Sink()
    thread = threading.Thread(target=sink.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield sink
    sink.shutdown()
    thread.join()
    sink.server_close()


@pytest.mark.req("S3.35", "S3.36", "S3.38", "S3.39")
def test_a_run_arrives_as_one_trace_with_steps_and_tools(sink: Sink) -> None:
    from runyard.telemetry.sentry import Sentry

    sentry = Sentry(f"http://key@127.0.0.1:{sink.server_address[1]}/1", "runyard@test")
    tracer, run_id = Tracer(sentry), new_id()
    run = tracer.root("agent.run", run_id, agent="kevin", attempt=1)
    step = tracer.child(run, "agent.step", step="turn#1")
    tool = tracer.child(step, "agent.tool", tool="send_message")
    tracer.end(tool, "tool_error")
    tracer.count("agent.tools", agent="kevin", tool="send_message")
    tracer.log("agent.decided", step, agent="kevin", tool="send_message")
    tracer.end(run)
    sentry.close()

    kinds = {kind for kind, _ in sink.items}
    [transaction] = [data for kind, data in sink.items if kind == "transaction"]
    trace = transaction["contexts"]["trace"]
    assert (trace["op"], trace["trace_id"], trace["data"]["agent"]) == ("agent.run", run_id.replace("-", ""), "kevin")
    spans = {span["op"]: span for span in transaction["spans"]}
    assert spans["agent.step"]["parent_span_id"] == trace["span_id"]
    assert spans["agent.tool"]["parent_span_id"] == spans["agent.step"]["span_id"]
    assert spans["agent.tool"]["data"]["outcome"] == "tool_error"
    assert not {"breadcrumbs", "request", "user", "exception"} & transaction.keys()
    assert kinds >= {"transaction", "log", "trace_metric"}
    [lines] = [data for kind, data in sink.items if kind == "log"]
    assert [(line["body"], line["trace_id"]) for line in lines["items"]] == [("agent.decided", trace["trace_id"])]
