"""The metrics of one process, and their text format for Prometheus.

`TABLE` lists every metric; docs/metrics.md is generated from it. Every `Metrics` has its own registry, so that several
apps in one Python process are counted separately. A hot path calls a method once per commit or per run, not once per
event. Label values come from closed sets (agents, models and tools that the app declares, statuses, error codes), never
from ids or content; any other value becomes `other`. Methods that count never raise. They are not thread-safe.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric as Family

from runyard.domain.events import Usage
from runyard.domain.runs.run import TERMINAL_STATUSES, Status
from runyard.telemetry.harmless import failures, harmless

M = TypeVar("M", Counter, Histogram)
PREFIX = "runyard_"
MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OTHER = "other"
MOST_TOOLS = 200
MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1_800, 3_600, 86_400)
EVENTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
WHY = ("crash", "drain", "decision")
OUTCOMES = frozenset(
    {"ok", "error", "timeout", "invalid_input", "called_too_often", "no_sandbox", "unknown_outcome", "output_too_large"}
)


class Metric(NamedTuple):
    name: str
    type: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()

    @property
    def name_on_the_wire(self) -> str:
        return f"{PREFIX}{self.name}{'_total' if self.type == 'counter' else ''}"


RUNS_STARTED = Metric("runs_started", "counter", ("agent",), "Runs that this process accepted.")
RUNS_FINISHED = Metric("runs_finished", "counter", ("status", "agent"), "Runs that this process ended.")
RUNS_RESUMED = Metric("runs_resumed", "counter", ("why",), "Runs that this process resumed, by reason.")
RUNS_ACTIVE = Metric("runs_active", "gauge", (), "Runs that this process executes now.")
RUN_WAIT = Metric("run_wait_seconds", "histogram", (), "Seconds from a request to the first claim of its run.", SECONDS)
RUN_TIME = Metric(
    "run_seconds",
    "histogram",
    ("status",),
    "Seconds from a run's first claim to its end, including time spent waiting.",
    SECONDS,
)
FIRST_TOKEN = Metric(
    "first_token_seconds", "histogram", ("agent",), "Seconds from a request to the first token of its run.", SECONDS
)
EVENTS_PERSISTED = Metric("events_persisted", "counter", (), "Events that this process committed to logs.")
BATCH_EVENTS = Metric("journal_batch_events", "histogram", (), "Events in one commit of the journal.", EVENTS)
COMMIT_MS = Metric("journal_commit_ms", "histogram", (), "Duration of one commit of the journal, in milliseconds.", MS)
WRITES_FENCED = Metric("writes_fenced", "counter", (), "Writes refused because another worker owns the run.")
LEASES_LOST = Metric("leases_lost", "counter", (), "Leases that the worker of this process lost.")
OUTBOX_LAG_MS = Metric("outbox_lag_ms", "histogram", (), "Milliseconds from a commit to its publication.", MS)
SSE_CLIENTS = Metric("sse_clients", "gauge", (), "Open streams of this process.")
SSE_LAG = Metric("sse_lag_events", "gauge", (), "Events that the slowest open stream has not read yet.")
TOOL_CALLS = Metric("tool_calls", "counter", ("tool", "outcome"), "Finished tool calls, by outcome.")
TOKENS = Metric(
    "tokens", "counter", ("agent", "model", "direction"), "Tokens that models read (`input`) and wrote (`output`)."
)
COST = Metric("cost_usd", "counter", ("agent", "model"), "Cost of model calls in US dollars, as reported by the model.")
REFUSED = Metric("requests_refused", "counter", ("code",), "Requests refused because of a limit.")
QUEUE_DEPTH = Metric("queue_depth", "gauge", (), "Queued runs of the whole installation.")
QUEUE_OLDEST = Metric("queue_oldest_seconds", "gauge", (), "Seconds that the longest waiting lane has been ready.")
APPROVALS_WAITING = Metric("approvals_waiting", "gauge", (), "Pending approvals of the whole installation.")
TABLE = (
    RUNS_STARTED,
    RUNS_FINISHED,
    RUNS_RESUMED,
    RUNS_ACTIVE,
    RUN_WAIT,
    RUN_TIME,
    FIRST_TOKEN,
    EVENTS_PERSISTED,
    BATCH_EVENTS,
    COMMIT_MS,
    WRITES_FENCED,
    LEASES_LOST,
    OUTBOX_LAG_MS,
    SSE_CLIENTS,
    SSE_LAG,
    TOOL_CALLS,
    TOKENS,
    COST,
    REFUSED,
    QUEUE_DEPTH,
    QUEUE_OLDEST,
    APPROVALS_WAITING,
)


class Metrics:
    """Counters, gauges and histograms of one process.

    `models`: the model of each agent, empty if it has none. `tools`: the names of the tools of the app."""

    def __init__(self, models: Mapping[str, str] = MappingProxyType({}), tools: Collection[str] = ()) -> None:
        self._models = dict(models)
        self._tools = set(tools)
        self._registry = CollectorRegistry()
        self._counters = {m: self._counter(m) for m in TABLE if m.type == "counter"}
        self._gauges = {m: Gauge(m.name_on_the_wire, m.help, registry=self._registry) for m in TABLE if _is_gauge(m)}
        self._histograms = {m: self._histogram(m) for m in TABLE if m.type == "histogram"}
        self._events_persisted = 0  # not counted in the registry yet
        self._children: dict[tuple[Counter | Histogram | str, ...], Counter | Histogram] = {}
        for status in sorted(TERMINAL_STATUSES):
            self._histograms[RUN_TIME].labels(status.value)
            for agent in self._models or {OTHER: ""}:
                self._counters[RUNS_FINISHED].labels(status.value, agent)

    # --- runs

    @harmless
    def run_started(self, agent: str) -> None:
        self._labelled(self._counters[RUNS_STARTED], self._agent(agent)).inc()

    @harmless
    def run_finished(self, status: Status, agent: str, seconds: float | None = None) -> None:
        """Count a run that ended with a terminal `status`, `seconds` after its first claim if it was claimed."""
        if status not in TERMINAL_STATUSES:
            raise ValueError(f"{status} is not a terminal status.")
        self._labelled(self._counters[RUNS_FINISHED], status.value, self._agent(agent)).inc()
        if seconds is not None:
            self._labelled(self._histograms[RUN_TIME], status.value).observe(max(0.0, seconds))

    @harmless
    def run_claimed(self, waited: float, resume_why: str | None) -> None:
        """Count a claim: the first one with the seconds that the run waited, a later one with the reason to resume."""
        if resume_why is None:
            self._histograms[RUN_WAIT].observe(max(0.0, waited))
        else:
            self._counters[RUNS_RESUMED].labels(resume_why if resume_why in WHY else OTHER).inc()

    @harmless
    def first_token(self, agent: str, seconds: float) -> None:
        self._labelled(self._histograms[FIRST_TOKEN], self._agent(agent)).observe(max(0.0, seconds))

    @harmless
    def model_used(self, agent: str, usage: Usage) -> None:
        agent, model = self._agent(agent), self._models.get(agent, "")
        self._counters[TOKENS].labels(agent, model, "input").inc(max(0, usage.input_tokens))
        self._counters[TOKENS].labels(agent, model, "output").inc(max(0, usage.output_tokens))
        self._counters[COST].labels(agent, model).inc(max(0.0, usage.usd))

    @harmless
    def tool_called(self, agent: str, tool: str, error: str | None) -> None:
        """Count a finished call. `error` is the code of the failure; an unknown code counts as `error`.

        An agent without a model names its tools in code, so new names are added to the labels. A model may invent
        names, which count as `other`."""
        if tool not in self._tools and self._models.get(agent) == "" and len(self._tools) < MOST_TOOLS:
            self._tools.add(tool)
        outcome = "ok" if error is None else error if error in OUTCOMES else "error"
        self._counters[TOOL_CALLS].labels(tool if tool in self._tools else OTHER, outcome).inc()

    # --- the log and its followers

    def events_persisted(self, count: int) -> None:
        """Count events. An addition, because the library's counters cost more than the rest of a small commit."""
        self._events_persisted += count

    @harmless
    def committed(self, events: int, seconds: float) -> None:
        """Count one commit of the journal."""
        self._histograms[BATCH_EVENTS].observe(events)
        self._histograms[COMMIT_MS].observe(seconds * 1000)

    @harmless
    def write_fenced(self) -> None:
        self._counters[WRITES_FENCED].inc()

    @harmless
    def lease_lost(self) -> None:
        self._counters[LEASES_LOST].inc()

    @harmless
    def outbox_lag(self, ms: Iterable[float]) -> None:
        """Count published commits with their lag. A negative lag (two clocks differ) counts as 0."""
        for one in ms:
            self._histograms[OUTBOX_LAG_MS].observe(max(0.0, one))

    @harmless
    def refused(self, code: str) -> None:
        """Count a refused request. `code`: of an error of `runyard.errors`."""
        self._counters[REFUSED].labels(code).inc()

    # --- gauges, read at each scrape

    def watch(self, metric: Metric, value: Callable[[], float]) -> None:
        """Read a gauge by calling `value` at each scrape. If it raises, the gauge is NaN."""

        def known() -> float:
            try:
                return value()
            except Exception:
                failures[metric.name] += 1
                return math.nan

        self._gauges[metric].set_function(known)

    @harmless
    def gauge(self, metric: Metric, value: float) -> None:
        self._gauges[metric].set(value)

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self)

    def collect(self) -> Iterator[Family]:
        """Yield the metrics without their `_created` samples."""
        count, self._events_persisted = self._events_persisted, 0
        self._counters[EVENTS_PERSISTED].inc(count)
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family

    def _labelled(self, metric: M, *labels: str) -> M:
        """Return the metric with these labels. The library's own `labels` costs more than counting does."""
        known = self._children.get((metric, *labels))
        if known is None:
            known = self._children[(metric, *labels)] = metric.labels(*labels)
        return cast(M, known)

    def _agent(self, name: str) -> str:
        return name if name in self._models else OTHER

    def _counter(self, metric: Metric) -> Counter:
        return Counter(metric.name_on_the_wire, metric.help, metric.labels, registry=self._registry)

    def _histogram(self, metric: Metric) -> Histogram:
        name, buckets = metric.name_on_the_wire, metric.buckets
        return Histogram(name, metric.help, metric.labels, buckets=buckets, registry=self._registry)


def _is_gauge(metric: Metric) -> bool:
    return metric.type == "gauge"
