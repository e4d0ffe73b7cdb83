"""Spans, counters and decisions to a collector of OpenTelemetry, over OTLP/HTTP. Needs the extra `otlp`.

A span is sent soon after it has ended, so a killed process loses few spans. Threads of the SDK send: no run waits, and
spans that cannot be sent in time are dropped. No provider is made global and nothing is instrumented. Credentials and
certificates are those of the environment variables that every exporter of OpenTelemetry reads
(`OTEL_EXPORTER_OTLP_HEADERS` and so on).
"""

import threading
import time

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Counter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

from runyard.telemetry.spans import Attribute, Span

NAME = "runyard"
FLUSH_SECONDS = 2.0
EVERY_MS = 1_000
COUNTERS_EVERY_MS = 10_000


class Otlp:
    def __init__(self, endpoint: str, version: str) -> None:
        self._resource = Resource.create({"service.name": NAME, "service.version": version})
        self._scope = InstrumentationScope(NAME, version)
        self._spans = BatchSpanProcessor(
            OTLPSpanExporter(f"{endpoint}/v1/traces", timeout=FLUSH_SECONDS), schedule_delay_millis=EVERY_MS
        )
        sending = OTLPMetricExporter(f"{endpoint}/v1/metrics", timeout=FLUSH_SECONDS)
        reader = PeriodicExportingMetricReader(sending, COUNTERS_EVERY_MS)
        self._meters = MeterProvider([reader], self._resource, shutdown_on_exit=False)
        self._meter = self._meters.get_meter(NAME, version)
        self._counters: dict[str, Counter] = {}
        self._logs = LoggerProvider(self._resource, shutdown_on_exit=False)
        lines = OTLPLogExporter(f"{endpoint}/v1/logs", timeout=FLUSH_SECONDS)
        self._logs.add_log_record_processor(BatchLogRecordProcessor(lines, schedule_delay_millis=EVERY_MS))
        self._logger = self._logs.get_logger(NAME, version)

    def ended(self, span: Span) -> None:
        parent = span.parent_id
        is_ok = span.outcome == "ok"
        self._spans.on_end(
            ReadableSpan(
                span.name,
                context=_context(span.trace_id, span.id),
                parent=None if parent is None else _context(span.trace_id, parent),
                resource=self._resource,
                attributes={**span.attributes, "outcome": span.outcome},
                status=Status(StatusCode.UNSET) if is_ok else Status(StatusCode.ERROR, span.outcome),
                start_time=_ns(span.began),
                end_time=_ns(span.ended or span.began),
                instrumentation_scope=self._scope,
            )
        )

    def count(self, name: str, attributes: dict[str, Attribute]) -> None:
        counter = self._counters.get(name)
        if counter is None:
            counter = self._counters[name] = self._meter.create_counter(name)
        counter.add(1, attributes)

    def log(self, name: str, attributes: dict[str, Attribute], span: Span | None) -> None:
        now = time.time_ns()
        record = LogRecord(
            timestamp=now,
            observed_timestamp=now,
            severity_text="INFO",
            severity_number=SeverityNumber.INFO,
            body=name,
            attributes=attributes,
            trace_id=None if span is None else int(span.trace_id, 16),
            span_id=None if span is None else int(span.id, 16),
            trace_flags=None if span is None else TraceFlags(TraceFlags.SAMPLED),
        )
        self._logger.emit(record)

    def close(self) -> None:
        """Flush all exporters concurrently, within this time, even if a collector is unavailable."""
        sending = (self._spans.shutdown, self._meters.shutdown, self._logs.shutdown)
        threads = [threading.Thread(target=send, name="otlp", daemon=True) for send in sending]
        until = time.monotonic() + FLUSH_SECONDS
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _context(trace: str, span: str) -> SpanContext:
    return SpanContext(int(trace, 16), int(span, 16), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
