"""docs/metrics.md: every metric, its name on the wire, its type and labels, from the table in the code."""

from __future__ import annotations

from runyard.telemetry.metrics import PREFIX, TABLE, Metric
from scripts.tables.page import Page

_HEADER = f"""# Metrics

Made by `make docs` from `src/runyard/telemetry/metrics.py`; do not edit.

`GET /metrics` answers in Prometheus' text format. On the wire a metric's name begins with `{PREFIX}`, and that of a
counter ends in `_total`, as Prometheus has it; a histogram has the series `_bucket`, `_sum` and `_count`. Each
process counts since its start: add the values of all processes, except `queue_depth`, `queue_oldest_seconds` and
`approvals_waiting`, which every process reads from the database (at most every five seconds; the last values are
repeated while it is unavailable). Label values come from closed sets: statuses, codes, and the agents, models and tools
of the app; any other value is `other`. Labels never hold ids or content.

The route needs a key with the scope `operate` (access.md). `RUNYARD_METRICS_PORT` serves the same at a separate port
without a key, which is how a `runyard worker` is scraped; it listens on loopback unless `RUNYARD_METRICS_HOST` is set.

| metric | on the wire | type | labels | what it is |
|---|---|---|---|---|"""


def render() -> str:
    """The whole of docs/metrics.md."""
    return "\n".join([_HEADER, *map(_row, TABLE), "", *_buckets()]) + "\n"


def _buckets() -> list[str]:
    """Where the buckets of histograms end, for those that share them."""
    sets: dict[tuple[float, ...], list[str]] = {}
    for metric in TABLE:
        if metric.buckets:
            sets.setdefault(metric.buckets, []).append(f"`{metric.name}`")
    lines = ["Where buckets end:", ""]
    return lines + [
        f"- {', '.join(names)}: {', '.join(f'{bound:g}' for bound in ends)}" for ends, names in sets.items()
    ]


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | `{metric.name_on_the_wire}` | {metric.type} | {labels} | {metric.help} |"


PAGE = Page("metrics.md", lambda _: render())
