"""GET /api/overview and `runyard status` show the state of the installation."""

import pytest

from runyard.cli.terminal.output import unstyled
from runyard.cli.terminal.text import size
from runyard.cli.upkeep.doctor import clocks
from runyard.cli.verbs.status import overview, overview_rows
from runyard.client import Client
from runyard.web.metrics_port import MetricsPort
from tests.support.in_process.asgi_transport import AsgiTransport
from tests.support.in_process.live_server import Serve, Server
from tests.web.access.every_route import app_of

MEMORY = pytest.mark.parametrize("backend", ["memory"])


async def test_an_operator_sees_the_queue_people_workers_streams_and_the_database(server: Server) -> None:
    asked = await server.post("asks")
    await server.waiting(asked)
    stream = await server.stream(f"/api/runs/{asked}/log")
    await stream.frames_to("run.waiting")
    answer = await server.http.get("/api/overview")
    assert answer.status_code == 200
    found = answer.json()
    assert (found["queued"], found["running"], found["approvals_waiting"]) == (0, 0, 1)
    assert found["pod"] == {"open_streams": 1, "runs": 0}
    assert [(worker["runs"], worker["lease_left_ms"] > 0) for worker in found["workers"]] == [(0, True)]
    assert found["database"]["version"].startswith(("SQLite 3.", "PostgreSQL "))
    assert found["database"]["size_bytes"] > 10_000
    assert abs(found["database"]["clock_skew_ms"]) < 2_000
    async with Client("http://pod", transport=AsgiTransport(app_of(server))) as client:
        text = unstyled("\n".join(overview(overview_rows(await client.overview())).lines(120)))
    assert "approvals   1" in text
    await stream.close()


@MEMORY
async def test_only_a_key_with_the_scope_operate_sees_it(serve: Serve) -> None:
    server = await serve(keys=True)
    for scopes, status in ((("read", "write", "approve"), 403), (("operate",), 200)):
        key = await server.key("ann", *scopes)
        answer = await server.http.get("/api/overview", headers={"X-API-Key": key})
        assert answer.status_code == status


@MEMORY
async def test_a_port_of_its_own_answers_those_who_watch_and_nothing_else(serve: Serve) -> None:
    server = await serve(keys=True)
    process = server.process
    async with Client("http://watch", transport=AsgiTransport(MetricsPort(process.engine, process.metrics))) as client:
        http = client._connection._http
        metrics, health, other = [await http.get(path) for path in ("/metrics", "/health", "/api/runs")]
        posted = await http.post("/metrics")
    assert "runyard_queue_depth 0.0" in metrics.text
    assert (health.status_code, health.text) == (200, "ok\n")
    assert (other.status_code, posted.status_code) == (404, 404)


def test_sizes_and_clocks_are_said_in_words() -> None:
    assert [size(n) for n in (12, 3_400_000, 1_210_000_000, 5e15)] == ["12 B", "3.4 MB", "1.21 GB", "5e+03 TB"]
    assert clocks(10_000, 9_990, 10_010).ok
    late = clocks(99_000, 9_990, 10_010)
    assert (late.ok, late.found) == (False, "+89000 ms in the database")
