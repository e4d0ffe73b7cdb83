"""docs/metrics.md: every metric, its name on the wire, its type and labels, from the table in the code."""

from __future__ import annotations

from runyard.telemetry.metrics import LAG_BUCKETS_MS, PREFIX, TABLE, Metric
from scripts.page import Page

_HEADER = f"""# Metrics

Made by `make docs` from `src/runyard/telemetry/metrics.py`; do not edit.

`GET /metrics` answers in Prometheus' text format. On the wire a metric's name begins with `{PREFIX}`, and that of a
counter ends in `_total`, as Prometheus has it; a histogram has the series `_bucket`, `_sum` and `_count`. Everything is
counted by one process since it started: add up over processes. Labels are words of a closed set, never an id and never
content. The route asks the database nothing, and who reads it needs a key with the scope `operate` (access.md).

| metric | on the wire | type | labels | what it is |
|---|---|---|---|---|"""


def render() -> str:
    """The whole of docs/metrics.md."""
    buckets = ", ".join(str(bound) for bound in LAG_BUCKETS_MS)
    footer = f"\nThe buckets of `outbox_lag_ms` end at {buckets} ms."
    return "\n".join([_HEADER, *map(_row, TABLE), footer]) + "\n"


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | `{metric.name_on_the_wire}` | {metric.type} | {labels} | {metric.help} |"


PAGE = Page("metrics.md", lambda _: render())
