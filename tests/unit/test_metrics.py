"""What is counted is what Prometheus reads, word for word."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from runyard.domain.run import TERMINAL_STATUSES, Status
from runyard.telemetry.metrics import TABLE, Metrics

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


def test_a_new_process_has_counted_nothing_and_says_so() -> None:
    values = read(Metrics())
    assert set(values.values()) == {0.0}
    assert len(values) == len(TABLE) - 2 + len(TERMINAL_STATUSES) + 13 + 3  # the histogram: buckets, +Inf, sum, count


def test_counts_add_up() -> None:
    metrics = Metrics()
    metrics.runs_started()
    metrics.runs_started(4)
    metrics.runs_finished(Status.DONE, 3)
    metrics.runs_finished(Status.ERROR)
    metrics.events_persisted(1_000)
    metrics.events_persisted(0)
    assert value(metrics, "runyard_runs_started_total") == 5
    assert value(metrics, "runyard_runs_finished_total", status="done") == 3
    assert value(metrics, "runyard_runs_finished_total", status="error") == 1
    assert value(metrics, "runyard_runs_finished_total", status="canceled") == 0
    assert value(metrics, "runyard_events_persisted_total") == 1_000


def test_the_lag_is_a_histogram_in_milliseconds() -> None:
    metrics = Metrics()
    metrics.outbox_lag([0.5, 7, 7, 150, 60_000])
    metrics.outbox_lag([-3])
    assert value(metrics, "runyard_outbox_lag_ms_count") == 6
    assert value(metrics, "runyard_outbox_lag_ms_sum") == 60_164.5
    for bound, at_most in (("1.0", 2), ("5.0", 2), ("10.0", 4), ("100.0", 4), ("200.0", 5), ("+Inf", 6)):
        assert value(metrics, "runyard_outbox_lag_ms_bucket", le=bound) == at_most


def test_only_an_end_is_counted_as_one() -> None:
    with pytest.raises(KeyError):
        Metrics().runs_finished(Status.WAITING)


def test_two_in_one_process_do_not_add_up() -> None:
    one, other = Metrics(), Metrics()
    one.runs_started(7)
    assert value(other, "runyard_runs_started_total") == 0


def test_the_text_is_what_it_always_was() -> None:
    metrics = Metrics()
    metrics.runs_finished(Status.CANCELED)
    lines = metrics.render().decode().splitlines()
    assert lines[:8] == [
        "# HELP runyard_runs_started_total Runs that this process accepted.",
        "# TYPE runyard_runs_started_total counter",
        "runyard_runs_started_total 0.0",
        "# HELP runyard_runs_finished_total Runs that this process brought to an end.",
        "# TYPE runyard_runs_finished_total counter",
        'runyard_runs_finished_total{status="canceled"} 1.0',
        'runyard_runs_finished_total{status="done"} 0.0',
        'runyard_runs_finished_total{status="error"} 0.0',
    ]
    assert "created" not in metrics.render().decode()
