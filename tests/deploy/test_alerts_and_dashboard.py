"""deploy/prometheus and deploy/grafana: alerts and panels name only metrics, labels and sections that exist."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from runyard.domain.runs.run import TERMINAL_STATUSES
from runyard.telemetry.metrics import OUTCOMES, TABLE, WHY
from tests.deploy.chart import ROOT
from tests.deploy.foreign_schemas import what_grafana_refuses
from tests.deploy.queries import (
    ALERTS,
    ALERTS_FILE,
    DASHBOARD,
    PANELS,
    Query,
    alert_queries,
    autoscaler_query,
    dashboard_queries,
    selectors,
    series,
)
from tests.support.session.missing_programs import need

ALL = [*alert_queries(), *dashboard_queries()]
# Labels that Prometheus adds to what it scrapes; `le` is that of a histogram's buckets.
ADDED = {"namespace", "pod", "instance", "job"}
CLOSED_SETS = {"status": {s.value for s in TERMINAL_STATUSES}, "why": set(WHY), "outcome": set(OUTCOMES)}


def labels_of(name: str) -> set[str]:
    own = series()[name].labels if name in series() else ()
    return {*own, *ADDED, *(["le"] if name.endswith("_bucket") else [])}


def what_is_wrong(expression: str) -> Iterator[str]:
    """Names that are not metrics, labels that a metric does not have, and values that a label never has."""
    for selector in selectors(expression):
        name = str(selector.name)
        if name not in series():
            yield f"{name} is not a metric"
            continue
        for matcher in selector.matchers.matchers:
            if matcher.name not in labels_of(name):
                yield f"{name} has no label {matcher.name}"
            elif matcher.name in CLOSED_SETS and matcher.value not in CLOSED_SETS[matcher.name]:
                yield f"{matcher.name} is never {matcher.value}"
    grouped = {name for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression) for name in group.split(", ")}
    known = {label for selector in selectors(expression) for label in labels_of(str(selector.name))}
    yield from (f"nothing has the label {name}" for name in grouped - known)


@pytest.mark.parametrize("query", ALL, ids=[query.where for query in ALL])
def test_an_expression_is_promql_over_metrics_and_labels_that_exist(query: Query) -> None:
    assert selectors(query.expression), "it selects nothing"
    assert list(what_is_wrong(query.expression)) == []


def test_the_expression_of_the_autoscaler_too() -> None:
    assert list(what_is_wrong(autoscaler_query().expression)) == []


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("runyard_queue_dept > 1", "runyard_queue_dept is not a metric"),
        ("runyard_runs_finished > 1", "runyard_runs_finished is not a metric"),
        ('rate(runyard_runs_finished_total{tool="a"}[5m])', "runyard_runs_finished_total has no label tool"),
        ('rate(runyard_runs_finished_total{status="failed"}[5m])', "status is never failed"),
        ("sum by (agent) (runyard_queue_depth)", "nothing has the label agent"),
    ],
)
def test_a_wrong_name_is_noticed(expression: str, wrong: str) -> None:
    assert list(what_is_wrong(expression)) == [wrong]


def test_an_expression_that_is_not_promql_is_noticed() -> None:
    with pytest.raises(ValueError, match="parenthesis"):
        selectors("sum by (le (runyard_queue_depth)")


def test_the_dashboard_shows_every_metric() -> None:
    shown = {series()[str(each.name)].name for query in dashboard_queries() for each in selectors(query.expression)}
    assert {metric.name for metric in TABLE} - shown == set()


def test_thresholds_of_quantiles_are_limits_of_buckets() -> None:
    """Between two limits a quantile is a guess."""
    for rule in ALERTS:
        if "histogram_quantile" in rule["expr"]:
            [selector] = selectors(rule["expr"])
            threshold = float(rule["expr"].rpartition("> ")[2])
            assert threshold in series()[str(selector.name)].buckets


def test_every_alert_has_a_severity_and_a_section_of_its_own_in_the_runbook() -> None:
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8"), re.M)
    anchors = {_anchor(heading) for heading in headings}
    assert len({rule["alert"] for rule in ALERTS}) == len(ALERTS)
    for rule in ALERTS:
        file, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert file == "docs/runbook.md"
        assert anchor in anchors
        assert anchor == rule["alert"].lower()
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"]["summary"].endswith(".")


def _anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_table_of_the_docs_says_what_the_rules_say() -> None:
    """Alert, severity, metrics, limits, windows and duration of each row of docs/operations.md."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in re.findall(r"^\| `Runyard.*$", text, re.M)]
    assert [row[0].strip("`") for row in rows] == [rule["alert"] for rule in ALERTS]
    for rule, (_, severity, condition, duration) in zip(ALERTS, rows, strict=True):
        expression = rule["expr"]
        assert (severity, duration) == (rule["labels"]["severity"], rule.get("for", ""))
        metrics = {str(each.name).removesuffix("_bucket") for each in selectors(expression)}
        assert set(re.findall(r"`(\w+)`", condition)) == metrics, rule["alert"]
        limits = set(re.findall(r"(?:>=?|==) ([\d.]+)", expression))
        assert set(re.findall(r"(?<![\w.])\d+(?:[.]\d+)?(?!\w)", condition)) - limits == set(), rule["alert"]
        assert limits - {*re.findall(r"\d+(?:[.]\d+)?", condition)} == set(), rule["alert"]
        windows = set(re.findall(r"increase\(\w+(?:\{[^}]*\})?\[(\w+)\]", expression))
        assert set(re.findall(r"\b\d+m\b", condition)) == windows, rule["alert"]


def test_every_link_of_the_runbook_to_one_of_its_sections_works() -> None:
    text = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
    anchors = {_anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}
    assert {anchor for anchor in re.findall(r"\]\(#([^)]*)\)", text) if anchor not in anchors} == set()


def test_panels_do_not_overlap_and_are_within_the_page() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
    for one, other in combinations(DASHBOARD["panels"], 2):
        assert not _overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])
    for panel in PANELS:
        assert panel["description"].endswith(".")
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}


def _overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
    below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return not (beside or below)


def test_the_dashboard_is_one_by_grafanas_own_types(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    assert what_grafana_refuses(DASHBOARD, good) == []
    wrong = {**DASHBOARD, "panels": [{**PANELS[0], "gridPoss": PANELS[0]["gridPos"]}]}
    assert "gridPoss" in "".join(what_grafana_refuses(wrong, bad))


def test_prometheus_accepts_the_rules() -> None:
    told = subprocess.run(
        [need("promtool"), "check", "rules", ALERTS_FILE], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    assert f"{len(ALERTS)} rules found" in told.stdout
