"""The counted values are exactly those that Prometheus reads."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from runyard.domain.events import Usage
from runyard.domain.runs.run import TERMINAL_STATUSES, Status
from runyard.telemetry.metrics import MOST_TOOLS, SSE_CLIENTS, Metrics

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(metrics: Metrics) -> Series:
    """As a scraper does."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return read(metrics)[name, frozenset(labels.items())]


MODELS = {"writer": "openai/gpt", "counter": ""}


def test_a_new_process_has_counted_nothing_and_says_so() -> None:
    values = read(Metrics(MODELS, ["search"]))
    assert set(values.values()) == {0.0}
    finished = {labels for name, labels in values if name == "runyard_runs_finished_total"}
    assert len(finished) == len(TERMINAL_STATUSES) * len(MODELS)


def test_counts_add_up() -> None:
    metrics = Metrics(MODELS)
    for _ in range(5):
        metrics.run_started("writer")
    metrics.run_finished(Status.DONE, "writer", 3)
    metrics.run_finished(Status.DONE, "writer", 5)
    metrics.run_finished(Status.ERROR, "counter")
    metrics.events_persisted(1_000)
    metrics.events_persisted(0)
    assert value(metrics, "runyard_runs_started_total", agent="writer") == 5
    assert value(metrics, "runyard_runs_finished_total", status="done", agent="writer") == 2
    assert value(metrics, "runyard_run_seconds_sum", status="done") == 8
    assert value(metrics, "runyard_runs_finished_total", status="error", agent="counter") == 1
    assert value(metrics, "runyard_runs_finished_total", status="canceled", agent="writer") == 0
    assert value(metrics, "runyard_events_persisted_total") == 1_000


def test_tokens_and_dollars_are_those_of_an_agent_and_its_model() -> None:
    metrics = Metrics(MODELS)
    metrics.model_used("writer", Usage(10, 4, 0.5))
    metrics.model_used("writer", Usage(1, 1))
    labels = {"agent": "writer", "model": "openai/gpt"}
    assert value(metrics, "runyard_tokens_total", **labels, direction="input") == 11
    assert value(metrics, "runyard_tokens_total", **labels, direction="output") == 5
    assert value(metrics, "runyard_cost_usd_total", **labels) == 0.5


def test_labels_are_words_of_a_closed_set() -> None:
    """Names of any tool that a model calls, and of agents that a database still holds of an earlier app."""
    metrics = Metrics(MODELS, ["search"])
    metrics.run_started("agent of yesterday")
    metrics.tool_called("writer", "search", None)
    metrics.tool_called("writer", "made up by a model", "unknown_tool")
    metrics.tool_called("counter", "look", "ValueError")
    for n in range(MOST_TOOLS + 50):
        metrics.tool_called("counter", f"tool {n}", None)
    assert value(metrics, "runyard_runs_started_total", agent="other") == 1
    assert value(metrics, "runyard_tool_calls_total", tool="search", outcome="ok") == 1
    assert value(metrics, "runyard_tool_calls_total", tool="other", outcome="error") == 1
    assert value(metrics, "runyard_tool_calls_total", tool="look", outcome="error") == 1
    tools = {dict(labels)["tool"] for name, labels in read(metrics) if name == "runyard_tool_calls_total"}
    assert len(tools) <= MOST_TOOLS + 1


def test_the_lag_is_a_histogram_in_milliseconds() -> None:
    metrics = Metrics()
    metrics.outbox_lag([0.5, 7, 7, 150, 60_000])
    metrics.outbox_lag([-3])
    assert value(metrics, "runyard_outbox_lag_ms_count") == 6
    assert value(metrics, "runyard_outbox_lag_ms_sum") == 60_164.5
    for bound, at_most in (("1.0", 2), ("5.0", 2), ("10.0", 4), ("100.0", 4), ("200.0", 5), ("+Inf", 6)):
        assert value(metrics, "runyard_outbox_lag_ms_bucket", le=bound) == at_most


def test_only_an_end_is_counted_as_one() -> None:
    metrics = Metrics({"writer": ""})
    metrics.run_finished(Status.WAITING, "writer")
    assert b'status="waiting"' not in metrics.render()


def test_two_in_one_process_do_not_add_up() -> None:
    one, other = Metrics(), Metrics()
    one.events_persisted(7)
    assert value(other, "runyard_events_persisted_total") == 0


def test_watched_values_are_read_when_metrics_are_requested() -> None:
    metrics, clients = Metrics(), [1]
    metrics.watch(SSE_CLIENTS, lambda: clients[0])
    clients[0] = 3
    assert value(metrics, "runyard_sse_clients") == 3


def test_the_text_is_what_it_always_was() -> None:
    metrics = Metrics({"writer": ""})
    metrics.run_started("writer")
    metrics.run_finished(Status.CANCELED, "writer")
    lines = metrics.render().decode().splitlines()
    for line in (
        "# HELP runyard_runs_started_total Runs that this process accepted.",
        "# TYPE runyard_runs_started_total counter",
        'runyard_runs_started_total{agent="writer"} 1.0',
        "# HELP runyard_runs_finished_total Runs that this process ended.",
        'runyard_runs_finished_total{agent="writer",status="canceled"} 1.0',
        'runyard_runs_finished_total{agent="writer",status="done"} 0.0',
    ):
        assert line in lines
    assert "created" not in metrics.render().decode()
