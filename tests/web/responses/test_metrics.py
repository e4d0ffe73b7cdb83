"""GET /metrics: plain text, whatever state the process is in."""

import pytest

from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.telemetry.metrics import TABLE
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.live_server import QUICK, Server, served
from tests.web.responses.test_problems import MEMORY, StoreThatGoesAway


@MEMORY
async def test_metrics_are_plain_text_that_prometheus_reads(server: Server) -> None:
    answer = await server.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    names = {line.split()[2] for line in answer.text.splitlines() if line.startswith("# TYPE")}
    assert names == {metric.name_on_the_wire for metric in TABLE}


@MEMORY
async def test_metrics_are_those_of_the_process_that_is_asked(server: Server) -> None:
    server.process.metrics.events_persisted(42)
    assert "runyard_events_persisted_total 42.0\n" in (await server.http.get("/metrics")).text


async def values(server: Server) -> dict[str, float]:
    lines = (await server.http.get("/metrics")).text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


@pytest.mark.req("S4.42")
async def test_metrics_count_runs_events_and_the_lag_of_publication(server: Server) -> None:
    """Every event of the logs is counted once, also those that a cancel or a decision writes."""
    done = await server.post("whole")
    await server.whole_stream(f"/api/runs/{done}/log")
    failed = await server.post("raises")
    await server.whole_stream(f"/api/runs/{failed}/log")
    asked = await server.post("asks")
    stream = await server.stream(f"/api/runs/{asked}/log")
    await stream.frames_to("run.waiting")
    await server.http.post(f"/api/runs/{asked}/cancel")
    await stream.to_end()
    await server.whole_stream(f"/agents/runs/{asked}/stream")  # ends when all of it is published
    heads = await server.store.heads([done, failed, asked])
    found = await values(server)
    assert [found[f'runyard_runs_started_total{{agent="{agent}"}}'] for agent in ("whole", "raises", "asks")] == [
        1,
        1,
        1,
    ]
    ends = {"whole": "done", "raises": "error", "asks": "canceled"}
    for agent, end in ends.items():
        assert found[f'runyard_runs_finished_total{{agent="{agent}",status="{end}"}}'] == 1
    assert found["runyard_run_wait_seconds_count"] == 3
    assert found["runyard_journal_batch_events_count"] == found["runyard_journal_commit_ms_count"] > 0
    assert found["runyard_sse_clients"] == 0
    assert found["runyard_events_persisted_total"] == sum(head.last_seq for head in heads.values())
    assert found["runyard_outbox_lag_ms_count"] > 0


async def test_metrics_answer_without_the_database_and_while_the_process_drains(gate: Gate) -> None:
    store = StoreThatGoesAway(SystemClock())
    async with served(Settings(**QUICK), agents(gate), store, worker=False) as server:
        store.away = True
        assert (await server.http.get("/metrics")).status_code == 200
        await server.process.drain(0)
        assert (await server.http.get("/metrics")).status_code == 200


@MEMORY
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_metrics_can_only_be_read(server: Server, method: str) -> None:
    answer = await server.http.request(method, "/metrics")
    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"
