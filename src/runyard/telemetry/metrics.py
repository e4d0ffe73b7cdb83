"""What one process counts, and how Prometheus reads it.

`TABLE` is the whole list; docs/metrics.md is made from it. Every `Metrics` has a registry of its own, so that several
apps in one Python process do not add up. Methods take counts: a hot path calls them once for a commit or for a run, not
for each event. Labels are words of a closed set (the agents, models and tools that the app declares, statuses, codes),
never ids and never content; what is not in the set is `other`. Counting never raises. Not for several threads.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric as Family

from runyard.domain.events import Usage
from runyard.domain.run import TERMINAL_STATUSES, Status
from runyard.telemetry.harmless import failures, harmless

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
RUNS_FINISHED = Metric("runs_finished", "counter", ("status", "agent"), "Runs that this process brought to an end.")
RUNS_RESUMED = Metric("runs_resumed", "counter", ("why",), "Runs that this process went on with, and why.")
RUNS_ACTIVE = Metric("runs_active", "gauge", (), "Runs that this process works on now.")
RUN_WAIT = Metric("run_wait_seconds", "histogram", (), "From a request to the first claim of its run.", SECONDS)
RUN_TIME = Metric(
    "run_seconds", "histogram", ("status",), "From a run's first claim to its end, waiting included.", SECONDS
)
FIRST_TOKEN = Metric(
    "first_token_seconds", "histogram", ("agent",), "From a request to the first token of its run.", SECONDS
)
EVENTS_PERSISTED = Metric("events_persisted", "counter", (), "Events that this process committed to logs.")
BATCH_EVENTS = Metric("journal_batch_events", "histogram", (), "Events in one commit of the journal.", EVENTS)
COMMIT_MS = Metric("journal_commit_ms", "histogram", (), "Milliseconds that one commit of the journal took.", MS)
WRITES_FENCED = Metric("writes_fenced", "counter", (), "Writes refused because another worker had the run.")
LEASES_LOST = Metric("leases_lost", "counter", (), "How often this process's worker lost its lease.")
OUTBOX_LAG_MS = Metric("outbox_lag_ms", "histogram", (), "Milliseconds from a commit to its publication.", MS)
SSE_CLIENTS = Metric("sse_clients", "gauge", (), "Streams that are open at this process.")
SSE_LAG = Metric("sse_lag_events", "gauge", (), "Events that the slowest of them has not been handed yet.")
TOOL_CALLS = Metric("tool_calls", "counter", ("tool", "outcome"), "Calls of tools that ended, and how.")
TOKENS = Metric("tokens", "counter", ("agent", "model", "direction"), "Tokens of models, `input` and `output`.")
COST = Metric("cost_usd", "counter", ("agent", "model"), "What models cost, in US dollars, as far as they say.")
REFUSED = Metric("requests_refused", "counter", ("code",), "Requests refused because of a limit.")
QUEUE_DEPTH = Metric("queue_depth", "gauge", (), "Runs that are queued, in the whole installation.")
QUEUE_OLDEST = Metric("queue_oldest_seconds", "gauge", (), "How long the lane that waits longest has been ready.")
APPROVALS_WAITING = Metric("approvals_waiting", "gauge", (), "Questions that wait for a person, in all.")
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
    """`models`: the agents of the app, each with its model (none: empty); `tools`: the names of their tools."""

    def __init__(self, models: Mapping[str, str] = MappingProxyType({}), tools: Collection[str] = ()) -> None:
        self._models = dict(models)
        self._tools = set(tools)
        self._registry = CollectorRegistry()
        self._counters = {m: self._counter(m) for m in TABLE if m.type == "counter"}
        self._gauges = {m: Gauge(m.name_on_the_wire, m.help, registry=self._registry) for m in TABLE if _is_gauge(m)}
        self._histograms = {m: self._histogram(m) for m in TABLE if m.type == "histogram"}
        for status in sorted(TERMINAL_STATUSES):
            self._histograms[RUN_TIME].labels(status.value)
            for agent in self._models or {OTHER: ""}:
                self._counters[RUNS_FINISHED].labels(status.value, agent)

    # --- runs

    @harmless
    def run_started(self, agent: str) -> None:
        self._counters[RUNS_STARTED].labels(self._agent(agent)).inc()

    @harmless
    def run_finished(self, status: Status, agent: str, seconds: float | None = None) -> None:
        """`status` is one that a run ends in; `seconds` since its first claim, if there was one."""
        if status not in TERMINAL_STATUSES:
            raise ValueError(f"{status} is no end.")
        self._counters[RUNS_FINISHED].labels(status.value, self._agent(agent)).inc()
        if seconds is not None:
            self._histograms[RUN_TIME].labels(status.value).observe(max(0.0, seconds))

    @harmless
    def run_claimed(self, waited: float, resume_why: str | None) -> None:
        """For the first time after so many seconds; or to go on with it."""
        if resume_why is None:
            self._histograms[RUN_WAIT].observe(max(0.0, waited))
        else:
            self._counters[RUNS_RESUMED].labels(resume_why if resume_why in WHY else OTHER).inc()

    @harmless
    def first_token(self, agent: str, seconds: float) -> None:
        self._histograms[FIRST_TOKEN].labels(self._agent(agent)).observe(max(0.0, seconds))

    @harmless
    def model_used(self, agent: str, usage: Usage) -> None:
        agent, model = self._agent(agent), self._models.get(agent, "")
        self._counters[TOKENS].labels(agent, model, "input").inc(max(0, usage.input_tokens))
        self._counters[TOKENS].labels(agent, model, "output").inc(max(0, usage.output_tokens))
        self._counters[COST].labels(agent, model).inc(max(0.0, usage.usd))

    @harmless
    def tool_called(self, agent: str, tool: str, error: str | None) -> None:
        """`error` is the code of how it failed; one that is not ours counts as `error`. What an agent without a model
        calls is named by its code, so such names are learnt; a model may make up any."""
        if tool not in self._tools and self._models.get(agent) == "" and len(self._tools) < MOST_TOOLS:
            self._tools.add(tool)
        outcome = "ok" if error is None else error if error in OUTCOMES else "error"
        self._counters[TOOL_CALLS].labels(tool if tool in self._tools else OTHER, outcome).inc()

    # --- the log and its followers

    @harmless
    def events_persisted(self, count: int) -> None:
        self._counters[EVENTS_PERSISTED].inc(count)

    @harmless
    def committed(self, events: int, seconds: float) -> None:
        """One commit of the journal."""
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
        """One for each commit that was published. Clocks of two machines may differ: less than nothing is nothing."""
        for one in ms:
            self._histograms[OUTBOX_LAG_MS].observe(max(0.0, one))

    @harmless
    def refused(self, code: str) -> None:
        """`code` is that of one of our errors."""
        self._counters[REFUSED].labels(code).inc()

    # --- gauges, read at each scrape

    def watch(self, metric: Metric, value: Callable[[], float]) -> None:
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
        """All of it, in Prometheus' text format."""
        return generate_latest(self)

    def collect(self) -> Iterator[Family]:
        """Render the metrics without the `_created` times."""
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family

    def _agent(self, name: str) -> str:
        return name if name in self._models else OTHER

    def _counter(self, metric: Metric) -> Counter:
        return Counter(metric.name_on_the_wire, metric.help, metric.labels, registry=self._registry)

    def _histogram(self, metric: Metric) -> Histogram:
        name, buckets = metric.name_on_the_wire, metric.buckets
        return Histogram(name, metric.help, metric.labels, buckets=buckets, registry=self._registry)


def _is_gauge(metric: Metric) -> bool:
    return metric.type == "gauge"
