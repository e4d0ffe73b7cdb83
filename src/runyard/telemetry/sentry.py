"""Export spans, counters and decisions to Sentry. Needs the package `sentry-sdk`.

All integrations of the SDK are off, so it reads no other log line, request, exception or local variable. A transaction
has the trace of its run, so the transactions of a run that several processes executed share one trace.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from runyard.telemetry.spans import Attribute, Span

FLUSH_SECONDS = 2.0


class Sentry:
    """The exporter for Sentry: a root with its descendants becomes one transaction."""

    def __init__(self, dsn: str, release: str) -> None:
        import sentry_sdk
        from sentry_sdk import logger, metrics

        self._use, self._logger, self._metrics = sentry_sdk.scope.use_scope, logger, metrics
        self._client = sentry_sdk.Client(
            dsn,
            release=release,
            traces_sample_rate=1.0,
            include_local_variables=False,
            max_breadcrumbs=0,
            default_integrations=False,
            auto_enabling_integrations=False,
            enable_logs=True,
        )
        self._scope = sentry_sdk.Scope(client=self._client)

    def ended(self, span: Span) -> None:
        """Send the transaction if the span is its root. Spans below a root are sent with it."""
        if span.root is span:
            self._send(span.tree)

    def _send(self, spans: Sequence[Span]) -> None:
        root, *below = spans
        with self._use(self._scope):
            transaction: Any = self._scope.start_transaction(
                op=root.name,
                name=root.name,
                trace_id=root.trace_id,
                span_id=root.id,
                start_timestamp=_time(root.began),
                sampled=True,
            )
            transaction.parent_span_id = root.caller
            made = {root: transaction}
            for span in below:
                parent = transaction if span.parent is None else made[span.parent]
                made[span] = parent.start_child(
                    op=span.name, name=span.name, span_id=span.id, start_timestamp=_time(span.began)
                )
            for span in reversed(spans):
                for name, value in {**span.attributes, "outcome": span.outcome}.items():
                    made[span].set_data(name, value)
                made[span].set_status("ok" if span.outcome == "ok" else "internal_error")
                made[span].finish(scope=self._scope, end_timestamp=_time(span.ended or span.began))

    def count(self, name: str, attributes: dict[str, Attribute]) -> None:
        with self._use(self._scope):
            self._metrics.count(name, 1, attributes=dict(attributes))

    def log(self, name: str, attributes: dict[str, Attribute], span: Span | None) -> None:
        scope = self._scope
        if span is not None:
            scope = scope.fork()
            scope.generate_propagation_context({"sentry-trace": f"{span.trace_id}-{span.id}-1"})
        with self._use(scope):
            self._logger.info(name, attributes=dict(attributes))

    def close(self) -> None:
        self._client.close(timeout=FLUSH_SECONDS)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
