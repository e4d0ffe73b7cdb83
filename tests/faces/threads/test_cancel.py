"""Cancel stops a run, reports its real end, and the run stays canceled."""

import asyncio

import pytest

from runyard.faces.threads import routes
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Serve, Server

AT_WORK = ["gated", "silent", "endless", "long_step", "long_thread"]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine a run may need longer to end than clients are made to wait."""
    monkeypatch.setattr(routes, "CANCEL_PATIENCE", PATIENCE)


@pytest.mark.req("S0.6", "S0.26", "S0.27", "S0.28", "S0.30")
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("agent", AT_WORK)
async def test_a_run_stops_wherever_it_is(server: Server, gate: Gate, agent: str) -> None:
    """Between tokens, in a wait, in a step, and beside a thread that cannot be stopped."""
    run_id = await server.post(agent)
    await gate.until_reached()
    answer = await server.http.post(f"/api/runs/{run_id}/cancel")
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "status": "canceled"})
    stream = await server.ended(run_id)
    assert stream.wire[-2:] == [("canceled", {"reason": "requested"}), ("state", {"status": "canceled"})]
    assert set(stream.events[:-2]) <= {"token"}
    run = await server.run(run_id)
    assert (run["status"], run["error"]) == ("canceled", None)
    assert run["finished_at"] is not None


@pytest.mark.req("S0.26")
async def test_an_agent_that_writes_without_end_is_stopped_between_tokens(server: Server, gate: Gate) -> None:
    run_id = await server.post("endless")
    await gate.until_reached()
    await server.http.post(f"/api/runs/{run_id}/cancel")
    stream = await server.ended(run_id)
    written = gate.calls["tokens"]
    assert stream.events.count("token") <= written
    await server.ended(await server.post("happy"))
    assert gate.calls["tokens"] == written


@pytest.mark.req("S0.27", "S0.28")
async def test_an_agent_that_ignores_the_cancel_cannot_write_any_more(serve: Serve, gate: Gate) -> None:
    server = await serve(stop_seconds=0.05)
    run_id = await server.post("deaf")
    await gate.until_reached()
    assert (await server.http.post(f"/api/runs/{run_id}/cancel")).json()["status"] == "canceled"
    gate.open.set()
    stream = await server.ended(run_id)
    assert stream.events == ["token", "canceled", "state"]
    await server.ended(await server.post("happy"))
    assert (await server.ended(run_id)).body == stream.body
    assert (await server.run(run_id))["status"] == "canceled"


@pytest.mark.req("S0.6")
async def test_a_queued_run_is_canceled_at_once(serve: Serve) -> None:
    server = await serve(worker=False)
    run_id = await server.post("happy")
    assert (await server.http.post(f"/api/runs/{run_id}/cancel")).json() == {"ok": True, "status": "canceled"}
    stream = await server.ended(run_id)
    assert stream.wire == [("canceled", {"reason": "requested"}), ("state", {"status": "canceled"})]


@pytest.mark.req("S0.6")
async def test_a_waiting_run_is_canceled_at_once(server: Server) -> None:
    run_id = await server.post("asks")
    await server.waiting(run_id)
    assert (await server.http.post(f"/api/runs/{run_id}/cancel")).json() == {"ok": True, "status": "canceled"}
    assert (await server.ended(run_id)).events == ["token", "canceled", "state"]
    assert (await server.http.get("/api/approvals")).json()["approvals"] == []


@pytest.mark.req("S0.8", "S0.28")
async def test_a_run_that_was_canceled_while_queued_never_starts(serve: Serve, gate: Gate) -> None:
    """The origin set `running` without looking."""
    api = await serve(worker=False)
    run_id = await api.post("gated")
    await api.http.post(f"/api/runs/{run_id}/cancel")
    ended = await api.ended(run_id)
    await api.process.stop()
    server = await serve()
    await server.ended(await server.post("happy"))
    assert gate.calls["gated"] == 0
    assert (await server.run(run_id))["status"] == "canceled"
    assert (await server.ended(run_id)).body == ended.body


@pytest.mark.req("S0.28")
async def test_error_and_cancel_end_with_a_state_event_too(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    await server.http.post(f"/api/runs/{run_id}/cancel")
    assert (await server.ended(run_id)).events[-2:] == ["canceled", "state"]
    assert (await server.ended(await server.post("fails"))).events[-2:] == ["error", "state"]


@pytest.mark.req("S0.6", "S0.28")
@pytest.mark.usefixtures("patient")
async def test_of_ten_callers_at_once_all_see_the_same_end(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    answers = await asyncio.gather(*(server.http.post(f"/api/runs/{run_id}/cancel") for _ in range(10)))
    assert [answer.json() for answer in answers] == [{"ok": True, "status": "canceled"}] * 10
    assert (await server.ended(run_id)).events == ["token", "canceled", "state"]


@pytest.mark.req("S0.28", "S0.29")
async def test_a_cancel_that_races_the_end_leaves_one_end_and_answers_it(server: Server, gate: Gate) -> None:
    for _ in range(5):
        gate.open.clear()
        gate.reached.clear()
        run_id = await server.post("gated")
        await gate.until_reached()
        gate.open.set()
        answer = await server.http.post(f"/api/runs/{run_id}/cancel")
        stream = await server.ended(run_id)
        status = answer.json()["status"]
        assert stream.wire[-1] == ("state", {"status": status})
        assert ("final" in stream.events) == (status == "done")
        assert ("canceled" in stream.events) == (status == "canceled")
        assert (await server.run(run_id))["status"] == status


@pytest.mark.req("S0.26", "S0.6")
@pytest.mark.parametrize("backend", ["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_cancel_on_another_pod_stops_the_run_too(serve: Serve, gate: Gate) -> None:
    worker = await serve()
    other = await serve(agents(gate), worker=False)
    run_id = await worker.post("silent")
    await gate.until_reached()
    assert (await other.http.post(f"/api/runs/{run_id}/cancel")).json() == {"ok": True, "status": "canceled"}
    for pod in (worker, other):
        assert (await pod.ended(run_id)).events == ["canceled", "state"]


@pytest.mark.req("S0.6")
async def test_a_cancel_answers_the_truth_when_the_run_takes_too_long_to_stop(serve: Serve, gate: Gate) -> None:
    server = await serve(stop_seconds=10)
    run_id = await server.post("deaf")
    await gate.until_reached()
    answer = await server.http.post(f"/api/runs/{run_id}/cancel")
    assert answer.json() == {"ok": True, "status": "running"}
    gate.open.set()
    assert (await server.ended(run_id)).events == ["token", "canceled", "state"]
    assert (await server.http.post(f"/api/runs/{run_id}/cancel")).json() == {"ok": True, "status": "canceled"}


async def test_the_next_message_of_a_thread_is_answered_after_a_cancel(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    stuck = await server.post("silent", thread_id=thread_id)
    behind = await server.post("happy", thread_id=thread_id)
    await gate.until_reached()
    await server.http.post(f"/api/runs/{stuck}/cancel")
    assert (await server.ended(behind)).wire[-1] == ("state", {"status": "done"})
