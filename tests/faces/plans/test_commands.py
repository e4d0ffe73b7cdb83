"""Starting, reading and cancelling a run of a plan."""

import asyncio
from collections import Counter
from typing import Any, get_args

import pytest

from runyard.agents.declared.loading import App
from runyard.base.ids import is_id
from runyard.faces.plans.wire import RunState
from tests.faces.plans.plans_client import event_names, seen, start, stream_to_end
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.faces.samples.sample_events import RUN_ID
from tests.support.in_process.live_server import Serve, Server

MEMORY = pytest.mark.parametrize("backend", ["memory"])
FIELDS = ["runId", "serverRunId", "plan", "state", "startedAt", "finishedAt", "lastSeq", "nextSeq", "v"]
FIELDS += ["createdAt", "updatedAt"]


# --- starting --------------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.27", "S4.24")
async def test_a_run_is_started_under_the_id_that_its_client_minted(server: Server) -> None:
    answer = await server.http.post("/agents/runs", json={"runId": "mine-1", "plan": "device"})
    assert (answer.status_code, answer.json()) == (201, {"runId": "mine-1", "status": "accepted"})
    stream = await stream_to_end(server, "mine-1")
    assert {frame.json["runId"] for frame in stream.frames} == {"mine-1"}


@MEMORY
@pytest.mark.parametrize("request_body", [None, {}, {"runId": None, "plan": None}])
async def test_without_a_name_the_run_gets_one_and_the_first_plan_runs(server: Server, request_body: Any) -> None:
    answer = await server.http.post("/agents/runs", json=request_body)
    run_id = answer.json()["runId"]
    assert (answer.status_code, is_id(run_id)) == (201, True)
    row = await seen(server, run_id)
    assert (row["runId"], row["serverRunId"], row["plan"]) == (run_id, run_id, "device")


@MEMORY
async def test_the_default_agent_runs_if_it_is_a_plan(serve: Serve) -> None:
    server = await serve(default_agent="failing_plan")
    assert (await seen(server, await start(server)))["plan"] == "failing_plan"


@MEMORY
async def test_the_plan_may_be_called_agent_as_elsewhere(server: Server) -> None:
    await server.http.post("/agents/runs", json={"runId": "x", "agent": "failing_plan"})
    assert (await seen(server, "x"))["plan"] == "failing_plan"


async def test_posting_a_run_id_again_attaches_to_the_same_run(server: Server) -> None:
    first = await server.http.post("/agents/runs", json={"runId": "again"})
    row = await seen(server, "again")
    second = await server.http.post("/agents/runs", json={"runId": "again"})
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    await stream_to_end(server, "again")
    third = await server.http.post("/agents/runs", json={"runId": "again", "plan": "device"})
    assert third.status_code == 200, "also when it has ended"
    assert (await seen(server, "again"))["serverRunId"] == row["serverRunId"]
    assert len((await server.http.get("/api/runs")).json()["runs"]) == 1


async def test_of_many_posts_of_one_run_id_one_starts_it(server: Server) -> None:
    posts = [server.http.post("/agents/runs", json={"runId": "race"}) for _ in range(12)]
    statuses = Counter(answer.status_code for answer in await asyncio.gather(*posts))
    assert statuses == {201: 1, 200: 11}
    assert len((await stream_to_end(server, "race")).ids) == 13
    assert len((await server.http.get("/api/runs")).json()["runs"]) == 1


@MEMORY
async def test_a_run_id_of_another_plan_is_a_conflict(server: Server) -> None:
    await start(server, "taken", "device")
    answer = await server.http.post("/agents/runs", json={"runId": "taken", "plan": "failing_plan"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_an_idempotency_key_starts_one_run(server: Server) -> None:
    headers = {"Idempotency-Key": "k"}
    first, second = [await server.http.post("/agents/runs", json={}, headers=headers) for _ in range(2)]
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    other = await server.http.post("/agents/runs", json={"plan": "failing_plan"}, headers=headers)
    assert other.status_code == 409


@MEMORY
@pytest.mark.parametrize(
    "bad", ["", "a b", "a/b", "../x", ".", "-x", "ä", "x" * 129, "a\nb", "a?b", 3, ["x"], {"x": 1}, True]
)
async def test_a_bad_run_id_is_refused_without_repeating_it(server: Server, bad: Any) -> None:
    answer = await server.http.post("/agents/runs", json={"runId": bad})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0]["where"] == "body.runId"
    assert (await server.http.get("/api/runs")).json()["runs"] == []


@MEMORY
@pytest.mark.parametrize("good", ["a", "A1", "ckx9z.run_1:2~3-4", "x" * 128, "01890000-0000-7000-8000-000000000001"])
async def test_a_good_run_id_names_the_run_everywhere(server: Server, good: str) -> None:
    await start(server, good)
    stream = await stream_to_end(server, good)
    assert {frame.json["runId"] for frame in stream.frames} == {good}
    assert (await seen(server, good))["runId"] == good
    assert (await server.http.post(f"/agents/runs/{good}/cancel")).json()["runId"] == good


@MEMORY
@pytest.mark.parametrize("body", [b"{", b"\xff", b'"text"', b"[1]"])
async def test_a_body_that_makes_no_sense_is_refused(server: Server, body: bytes) -> None:
    answer = await server.http.post("/agents/runs", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@MEMORY
async def test_a_plan_that_is_not_declared_is_refused(server: Server) -> None:
    answer = await server.http.post("/agents/runs", json={"runId": "x", "plan": "nothing"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert (await server.http.get("/agents/runs/x")).status_code == 404


@MEMORY
async def test_an_agent_that_is_not_a_plan_is_refused_and_the_plans_are_named(server: Server) -> None:
    answer = await server.http.post("/agents/runs", json={"runId": "x", "plan": "happy"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert "The agent happy is not a plan" in answer.json()["detail"]
    assert "device, gated_plan, failing_plan, slow_plan" in answer.json()["detail"]
    assert (await server.http.get("/agents/runs/x")).status_code == 404


@MEMORY
async def test_without_a_plan_the_request_is_refused(serve: Serve, gate: Gate) -> None:
    talks = {name: one for name, one in agents(gate).agents.items() if one.kind != "plan"}
    answer = await (await serve(App(talks, {}, "happy"))).http.post("/agents/runs", json={})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert "runyard.plan" in answer.json()["detail"]


# --- looking ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.1", "S4.4", "S4.24", "S4.26")
async def test_a_run_is_shown_with_its_row_and_its_cursor(server: Server) -> None:
    await start(server, "row", "device")
    await stream_to_end(server, "row")
    row = await seen(server, "row")
    assert list(row) == FIELDS
    assert (row["state"], row["lastSeq"], row["nextSeq"], row["v"]) == ("finished", 13, 14, 1)
    assert row["createdAt"] == row["startedAt"] <= row["finishedAt"] <= row["updatedAt"]


@pytest.mark.req("S4.27", "S4.4", "S4.24")
async def test_a_run_without_a_worker_is_started_and_has_its_first_event(serve: Serve) -> None:
    server = await serve(worker=False)
    await start(server, "early", "device")
    stream = await server.stream("/agents/runs/early/stream")
    await stream.first_frame()
    assert event_names(stream) == ["RunStarted"]
    row = await seen(server, "early")
    assert (row["state"], row["finishedAt"], row["lastSeq"], row["nextSeq"]) == ("started", None, 1, 2)
    await stream.close()


MAP = {
    "queued": "started",
    "running": "started",
    "waiting": "started",
    "done": "finished",
    "error": "finished",
    "canceled": "cancelled",
}


@pytest.mark.req("S4.1", "S4.13", "S4.35")
@pytest.mark.parametrize("core", list(MAP))
async def test_a_run_in_every_status_is_shown_by_its_state(serve: Serve, gate: Gate, core: str) -> None:
    server = await serve(worker=core != "queued")
    run_id = await bring_to(server, gate, core)
    if core in ("done", "error", "canceled"):
        await stream_to_end(server, run_id)  # the state moves when the end is published
    [row] = (await server.http.get("/api/runs")).json()["runs"]
    assert (row["status"], row["waiting"]) == ("running" if core == "waiting" else core, core == "waiting")
    shown = await seen(server, run_id)
    assert (shown["state"], shown["finishedAt"] is None) == (MAP[core], MAP[core] == "started")


@pytest.mark.req("S4.1")
def test_there_are_exactly_three_states() -> None:
    assert get_args(RunState) == ("started", "finished", "cancelled")
    assert set(MAP.values()) == set(get_args(RunState))


async def bring_to(server: Server, gate: Gate, core: str) -> str:
    match core:
        case "waiting":
            run_id = await server.post("asks")
            await server.waiting(run_id)
            return run_id
        case "running" | "canceled":
            run_id = await start(server, plan="gated_plan")
            await gate.until_reached()
            if core == "canceled":
                await server.http.post(f"/agents/runs/{run_id}/cancel")
            return run_id
        case _:
            return await start(server, plan={"error": "failing_plan"}.get(core, "device"))


@MEMORY
@pytest.mark.parametrize("path", ["", "/stream", "/cancel"])
@pytest.mark.parametrize("unknown", [RUN_ID, "nothing", "x" * 500, "a%00b", "%ff", "ä"])
async def test_a_run_that_is_not_there_is_404(server: Server, path: str, unknown: str) -> None:
    method = "POST" if path == "/cancel" else "GET"
    answer = await server.http.request(method, f"/agents/runs/{unknown}{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


# --- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.47", "S4.1", "S4.13", "S4.23")
async def test_a_run_that_is_cancelled_inside_a_node_ends_as_cancelled(server: Server, gate: Gate) -> None:
    run_id = await start(server, plan="gated_plan")
    stream = await server.stream(f"/agents/runs/{run_id}/stream")
    await gate.until_reached()
    answer = await server.http.post(f"/agents/runs/{run_id}/cancel")
    assert (answer.status_code, answer.json()) == (200, {"runId": run_id, "status": "accepted"})
    await stream.to_end()
    assert event_names(stream)[-3:] == ["NodeStarted OpenApp", "DebugTrace orchestrator.cancelled", "RunFinished"]
    assert gate.stopped == [(await seen(server, run_id))["serverRunId"]]
    assert (await seen(server, run_id))["state"] == "cancelled"


async def test_a_run_that_has_not_begun_is_cancelled_at_once(serve: Serve) -> None:
    server = await serve(worker=False)
    await start(server, "queued")
    await server.http.post("/agents/runs/queued/cancel")
    stream = await stream_to_end(server, "queued")
    assert event_names(stream) == ["RunStarted", "DebugTrace orchestrator.cancelled", "RunFinished"]
    assert (await seen(server, "queued"))["state"] == "cancelled"


@MEMORY
async def test_cancelling_a_run_that_has_ended_is_accepted_and_changes_nothing(server: Server) -> None:
    await start(server, "over")
    before = await stream_to_end(server, "over")
    for _ in range(2):
        assert (await server.http.post("/agents/runs/over/cancel")).json()["status"] == "accepted"
    assert (await stream_to_end(server, "over")).body == before.body
    assert (await seen(server, "over"))["state"] == "finished"
