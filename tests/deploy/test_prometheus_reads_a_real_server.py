"""deploy/prometheus and deploy/grafana: a real Prometheus scrapes a real server, and every expression has an answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import httpx2
import pytest

from runyard.telemetry.metrics import TABLE
from tests.deploy.chart import ONE_KIND_OF_POD, render
from tests.deploy.prometheus_server import PrivatePrometheus
from tests.deploy.queries import ALERTS, autoscaler_query, dashboard_queries, selectors, series
from tests.deploy.rendered_pods import RenderedPod, client_of, posted, ready, running, status
from tests.support.eventually import eventually

pytestmark = pytest.mark.flow
# Counters and histograms without a label exist from the start, and gauges always; the rest after the first event.
SCRAPES = 3


@asynccontextmanager
async def scraped_server(dsn: str, folder: Path) -> AsyncIterator[tuple[RenderedPod, PrivatePrometheus]]:
    """A pod that executes runs, with runs of every kind behind it, and Prometheus."""
    rendered = render({**ONE_KIND_OF_POD, "secret": {"data": {"RUNYARD_DATABASE_URL": dsn}}})
    with running(rendered, "serve", folder / "serve") as pod:
        await ready(pod)
        async with client_of(pod) as http:
            await _use_everything(http)
        with PrivatePrometheus(folder / "prometheus", {"serve-1": pod.ports["metrics"]}) as prometheus:
            yield pod, prometheus


async def _use_everything(http: httpx2.AsyncClient) -> None:
    """Tokens, tools, models, an approval and its decision, a stream, and a refused request."""
    runs = [(await posted(http, agent))[1] for agent in ("tokens", "cv-screener")]
    thread = (await http.post("/api/threads", json={"agent": "assistant"})).json()["thread_id"]
    said = {"content": "I want my money back for A-1001"}
    runs.append((await http.post(f"/api/threads/{thread}/messages", json=said)).json()["run_id"])

    async def pending() -> list[str]:
        return [each["approval_id"] for each in (await http.get("/api/approvals")).json()["approvals"]]

    [approval] = await eventually("an approval is pending", pending)
    assert (await http.post(f"/api/approvals/{approval}", json={"decision": "approve"})).status_code == 200
    for run in runs:
        await http.get(f"/api/runs/{run}/log?after=0")
        assert await status(http, run) == "done"
    refused = await http.post(f"/api/threads/{thread}/messages", json={"content": "x" * 300_000})
    assert refused.status_code == 413


async def test_every_expression_has_an_answer(migrated_database: str, tmp_path: Path) -> None:
    async with scraped_server(migrated_database, tmp_path) as (pod, prometheus):
        scraped = _scrape(pod)
        assert {metric.name_on_the_wire for metric in TABLE} <= set(re.findall(r"^# TYPE (\S+)", scraped, re.M))
        samples = {line.split("{")[0].split(" ")[0] for line in scraped.splitlines() if not line.startswith("#")}
        named = [*dashboard_queries(), autoscaler_query()]
        assert {str(each.name) for query in named for each in selectors(query.expression)} <= samples

        await eventually("the server was scraped", lambda: _scrapes(prometheus) >= SCRAPES)
        for query in named:
            await eventually(f"{query.where} has an answer", partial(prometheus.query, query.expression))
        assert len(prometheus.query("{__name__=~'runyard_.*', namespace='agents'}")) >= len(series())

        await eventually("all rules were evaluated", lambda: {r["health"] for r in prometheus.rules()} == {"ok"})
        assert {rule["name"] for rule in prometheus.rules()} == {rule["alert"] for rule in ALERTS}
        assert [rule["name"] for rule in prometheus.rules() if rule.get("lastError")] == []
        assert await asyncio.to_thread(pod.terminate) < pod.grace


def _scrape(pod: RenderedPod) -> str:
    with urlopen(f"http://127.0.0.1:{pod.ports['metrics']}/metrics", timeout=30) as response:
        return str(response.read(), "utf-8")


def _scrapes(prometheus: PrivatePrometheus) -> int:
    try:
        found = prometheus.query("count_over_time(runyard_queue_depth[1m])")
    except HTTPError as error:
        if error.code != 503:  # it is still starting
            raise
        return 0
    return int(found[0]["value"][1]) if found else 0
