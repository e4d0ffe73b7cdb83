"""Every metric is documented, and the table says what is on the wire."""

from __future__ import annotations

import re

from runyard.telemetry.metrics import TABLE, Metrics


def test_every_metric_has_one_sentence() -> None:
    for metric in TABLE:
        assert metric.help.endswith("."), metric.name
        assert ". " not in metric.help, metric.name


def test_the_metrics_in_the_table_are_on_the_wire_and_no_others() -> None:
    told = {(metric.name_on_the_wire, metric.type) for metric in TABLE}
    types = re.findall(r"^# TYPE (\S+) (\S+)$", Metrics().render().decode(), re.M)
    assert len(types) == len(told)
    assert set(types) == told
