"""A collector on loopback that takes apart what arrives over OTLP/HTTP: spans, counters and log lines. Needs the
package `opentelemetry-proto`, which comes with the extra `otlp`."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator


class Arrived(Struct, frozen=True):
    """One span, as it came."""

    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    is_error: bool
    took_ns: int
    service: str


class OtlpSink(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Arrived] = []
        self.counts: dict[tuple[str, ...], int] = {}
        self.logs: list[tuple[str, dict[str, Any]]] = []
        self.log_places: list[tuple[str, str]] = []  # the trace and the span of each
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def named(self, name: str) -> list[Arrived]:
        return [span for span in list(self.spans) if span.name == name]

    def take(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        match path:
            case "/v1/traces":
                self._take_spans(body)
            case "/v1/metrics":
                self._take_counts(body)
            case "/v1/logs":
                self._take_logs(body)
            case _:
                raise ValueError(path)

    def _take_spans(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _plain(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [
                    Arrived(
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        _plain(span.attributes),
                        span.status.code == 2,
                        span.end_time_unix_nano - span.start_time_unix_nano,
                        service,
                    )
                    for span in scope.spans
                ]

    def _take_counts(self, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.sum.data_points:
                        labels = [str(value) for value in _plain(point.attributes).values()]
                        self.counts[(metric.name, *labels)] = point.as_int

    def _take_logs(self, body: bytes) -> None:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

        for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
            for scope in resource.scope_logs:
                self.logs += [(line.body.string_value, _plain(line.attributes)) for line in scope.log_records]
                self.log_places += [(line.trace_id.hex(), line.span_id.hex()) for line in scope.log_records]


def _plain(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        assert isinstance(self.server, OtlpSink)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.take(self.path, body)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def otlp_sink() -> Iterator[OtlpSink]:
    sink = OtlpSink()
    thread = threading.Thread(target=sink.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield sink
    finally:
        sink.shutdown()
        thread.join()
        sink.server_close()
