"""How the threads face spells a status: every cell of the map, in the table and on the wire."""

from functools import partial
from typing import get_args

import pytest

from runyard.domain.runs.run import Status
from runyard.faces.threads import translate
from runyard.faces.threads.wire import RunStatus
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server

MAP = {
    "queued": "queued",
    "running": "running",
    "waiting": "running",
    "done": "done",
    "error": "error",
    "canceled": "canceled",
}


@pytest.mark.req("S0.7")
def test_every_core_status_has_its_word() -> None:
    assert {status.value: word for status, word in translate.STATUS.items()} == MAP
    assert set(MAP) == {status.value for status in Status}


@pytest.mark.req("S0.7")
def test_there_are_exactly_five_words_and_canceled_has_one_l() -> None:
    assert get_args(RunStatus) == ("queued", "running", "done", "error", "canceled")
    assert set(translate.STATUS.values()) == set(get_args(RunStatus))


@pytest.mark.req("S0.7")
@pytest.mark.parametrize("core", list(MAP))
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_run_in_every_status_is_shown_by_its_word(serve: Serve, gate: Gate, core: str) -> None:
    server = await serve(worker=core != "queued")
    run_id = await bring_to(server, gate, core)
    [row] = (await server.http.get("/api/runs")).json()["runs"]
    assert (row["status"], row["waiting"]) == (MAP[core], core == "waiting")
    assert (await server.run(run_id))["status"] == MAP[core]


async def bring_to(server: Server, gate: Gate, core: str) -> str:
    match core:
        case "queued":
            return await server.post("happy")
        case "running":
            run_id = await server.post("gated")
            await gate.until_reached()
            return run_id
        case "waiting":
            run_id = await server.post("asks")
            await server.waiting(run_id)
            return run_id
        case "canceled":
            run_id = await server.post("gated")
            await gate.until_reached()
            await server.http.post(f"/api/runs/{run_id}/cancel")
            return run_id
        case _:
            run_id = await server.post({"done": "happy", "error": "fails"}[core])
            await server.ended(run_id)
            return run_id


@pytest.mark.req("S0.7")
async def test_every_route_calls_a_run_that_waits_running(server: Server) -> None:
    run_id = await server.post("asks")
    await server.waiting(run_id)

    async def listed(**query: str) -> list[tuple[str, str, bool]]:
        rows = (await server.http.get("/api/runs", params=query)).json()["runs"]
        return [(row["run_id"], row["status"], row["waiting"]) for row in rows]

    waits = [(run_id, "running", True)]
    assert (await server.run(run_id))["status"] == "running"
    assert await listed() == await listed(status="running") == await listed(status="waiting") == waits
    assert await listed(status="queued") == []
    canceled = await server.http.post(f"/api/runs/{run_id}/cancel")
    assert canceled.json()["status"] == "canceled"
    assert await listed(status="running") == []
    assert await listed() == [(run_id, "canceled", False)]


@pytest.mark.req("S0.7")
async def test_pages_of_running_runs_neither_repeat_nor_miss_those_that_wait(server: Server, gate: Gate) -> None:
    made = []
    for agent in ("asks", "gated", "asks", "gated", "asks"):
        made.append(run_id := await server.post(agent))
        if agent == "asks":
            await server.waiting(run_id)
        else:
            await eventually("it has begun", partial(gate.runs.__contains__, run_id))
    found: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = (await server.http.get("/api/runs", params={"status": "running", "limit": 2, **before})).json()
        found += [row["run_id"] for row in page["runs"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert found == made[::-1]
