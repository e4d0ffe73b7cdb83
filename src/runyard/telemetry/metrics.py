"""What one process counts, and how Prometheus reads it.

`TABLE` is the whole list; docs/metrics.md is made from it. Every `Metrics` has a registry of its own, so that several
apps in one Python process do not add up. Methods take counts: a hot path calls them once for a commit, not for each
event. Labels are words of a closed set, never ids and never content. Not for several threads.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric as Family

from runyard.domain.run import TERMINAL_STATUSES, Status

PREFIX = "runyard_"
MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
LAG_BUCKETS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)


class Metric(NamedTuple):
    name: str
    type: Literal["counter", "histogram"]
    labels: tuple[str, ...]
    help: str

    @property
    def name_on_the_wire(self) -> str:
        return f"{PREFIX}{self.name}{'_total' if self.type == 'counter' else ''}"


RUNS_STARTED = Metric("runs_started", "counter", (), "Runs that this process accepted.")
RUNS_FINISHED = Metric("runs_finished", "counter", ("status",), "Runs that this process brought to an end.")
EVENTS_PERSISTED = Metric("events_persisted", "counter", (), "Events that this process committed to logs.")
OUTBOX_LAG_MS = Metric("outbox_lag_ms", "histogram", (), "Milliseconds from a commit to its publication.")
TABLE = (RUNS_STARTED, RUNS_FINISHED, EVENTS_PERSISTED, OUTBOX_LAG_MS)


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._started = self._counter(RUNS_STARTED)
        finished = self._counter(RUNS_FINISHED)
        self._finished = {status: finished.labels(status.value) for status in sorted(TERMINAL_STATUSES)}
        self._persisted = self._counter(EVENTS_PERSISTED)
        self._lag = Histogram(
            OUTBOX_LAG_MS.name_on_the_wire, OUTBOX_LAG_MS.help, buckets=LAG_BUCKETS_MS, registry=self._registry
        )

    def runs_started(self, count: int = 1) -> None:
        self._started.inc(count)

    def runs_finished(self, status: Status, count: int = 1) -> None:
        """`status` is one that a run ends in."""
        self._finished[status].inc(count)

    def events_persisted(self, count: int) -> None:
        self._persisted.inc(count)

    def outbox_lag(self, ms: Iterable[float]) -> None:
        """One for each commit that was published. Clocks of two machines may differ: less than nothing is nothing."""
        for one in ms:
            self._lag.observe(max(0.0, one))

    def render(self) -> bytes:
        """All of it, in Prometheus' text format."""
        return generate_latest(self)

    def collect(self) -> Iterator[Family]:
        """Without the `_created` times, which nobody asked for."""
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family

    def _counter(self, metric: Metric) -> Counter:
        return Counter(metric.name_on_the_wire, metric.help, metric.labels, registry=self._registry)
