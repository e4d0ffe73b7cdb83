"""Every PromQL expression that is shipped: of the alerts, of the dashboard, and of the autoscaler."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import promql_parser
import yaml  # type: ignore[import-untyped]

from runyard.telemetry.metrics import TABLE, Metric
from tests.deploy.chart import OTHERWISE, ROOT, render

ALERTS_FILE = ROOT / "deploy" / "prometheus" / "alerts.yaml"
ALERTS: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(ALERTS_FILE.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "runyard.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RATE_INTERVAL = "30s"


class Query(NamedTuple):
    where: str
    expression: str


def alert_queries() -> list[Query]:
    return [Query(rule["alert"], rule["expr"]) for rule in ALERTS]


def dashboard_queries() -> list[Query]:
    """As Grafana sends them, with all namespaces selected."""
    found = []
    for panel in PANELS:
        for target in panel["targets"]:
            sent = target["expr"].replace("$namespace", ".*").replace("$__rate_interval", RATE_INTERVAL)
            found.append(Query(panel["title"], sent))
    return found


def autoscaler_query() -> Query:
    [scaled] = render(OTHERWISE).of("ScaledObject")
    return Query("ScaledObject", scaled["spec"]["triggers"][0]["metadata"]["query"])


def series() -> dict[str, Metric]:
    """Every name that a scrape has, with its metric."""
    found: dict[str, Metric] = {}
    for metric in TABLE:
        names = ("_bucket", "_sum", "_count") if metric.type == "histogram" else ("",)
        found |= {f"{metric.name_on_the_wire}{suffix}": metric for suffix in names}
    return found


def selectors(expression: str) -> list[promql_parser.VectorSelector]:
    """The selectors of an expression. Raises ValueError if it is not PromQL."""
    found: list[promql_parser.VectorSelector] = []

    def visit(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            found.append(node)

    promql_parser.walk(promql_parser.parse(expression), visit)
    return found
