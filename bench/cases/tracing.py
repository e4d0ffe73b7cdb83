"""The cost of traces: empty runs, 64 in flight, on SQLite, with a collector of OpenTelemetry and without any.

An empty run is the worst case: nothing else is in it. The collector discards its input."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

from msgspec.structs import replace

from bench.cases.measure import measure_once
from bench.client.load import Talk
from bench.report.results import Row
from bench.servers.stand import SQLITE, Stand
from bench.size import Size
from bench.steps import Step

CASE, TRACED = "traced", "sqlite, traced"
MISSING = {} if find_spec("opentelemetry.exporter") else {CASE: "the extra otlp is not installed"}


def steps(stand: Stand, size: Size) -> list[Step]:
    if SQLITE not in stand.kinds or MISSING:
        return []
    return [Step("empty runs, without and with traces", partial(_compare, stand, size))]


def _compare(stand: Stand, size: Size) -> Sequence[Row]:
    with (
        collector() as address,
        stand.server(SQLITE, "untraced") as plain,
        stand.server(SQLITE, "traced", traced=address) as traced,
    ):
        rows = []
        for take in range(size.rounds + 1):
            for name, server in ((SQLITE, plain), (TRACED, traced)):
                job = Talk(port=server.port, clients=size.in_flight, seconds=size.seconds, agent="noop", tokens=0)
                row = measure_once(CASE, server, job)
                if take:  # the first round warms up
                    rows.append(replace(row, server=name))
        return rows


class _Takes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collector() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Takes)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
