"""Every metric is documented, and the table says what is on the wire."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runyard.telemetry.metrics import TABLE, Metrics
from scripts import metrics_table


def test_the_table_of_metrics_is_current() -> None:
    assert metrics_table.is_current(), "run 'python -m scripts.metrics_table'"


def test_every_metric_has_one_sentence() -> None:
    for metric in TABLE:
        assert metric.help.endswith("."), metric.name
        assert ". " not in metric.help, metric.name


def test_what_is_in_the_table_is_on_the_wire_and_nothing_else() -> None:
    told = {(metric.name_on_the_wire, metric.type) for metric in TABLE}
    types = re.findall(r"^# TYPE (\S+) (\S+)$", Metrics().render().decode(), re.M)
    assert len(types) == len(told)
    assert set(types) == told


def test_a_stale_table_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metrics_table, "DOCUMENT", tmp_path / "metrics.md")
    assert metrics_table.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert metrics_table.main([]) == 0
    assert metrics_table.main(["--check"]) == 0
