"""The same task as a stream: its frames byte for byte, one terminal event, last, however the run ends."""

import pytest

from tests.faces.contract.contract_client import contract_agents, opened, stream, sync, task_request
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

TERMINAL = {"final", "complete", "done"}


def only_terminal(found: RawStream) -> dict[str, object]:
    """The data of the one terminal event, which is the last; the stream has ended cleanly after it."""
    assert found.ended_cleanly
    names = [frame.event for frame in found.frames]
    assert [name for name in names if name in TERMINAL] == names[-1:]
    data = found.frames[-1].json
    assert data["request_id"] == "req-1"
    assert data["task_type"]
    assert isinstance(data["status"], str)
    assert isinstance(data["outputs"], dict)
    return dict(data)


@pytest.mark.req("S2.2", "S2.13", "S2.15", "S2.16", "S2.17", "S2.18", "S2.19", "S2.20")
async def test_a_task_is_followed_from_started_to_one_terminal_event(server: Server) -> None:
    found = await stream(server, task_request("happy"))

    assert found.status == 200
    assert found.header("content-type") == ["text/event-stream; charset=utf-8"]
    assert [frame.event for frame in found.frames] == ["started", "progress", "progress", "final"]
    run_id = found.header("runyard-run-id")[0]
    ids = {"request_id": "req-1", "task_type": "happy"}
    assert found.frames[0].json == {**ids, "run_id": run_id}
    assert found.frames[1].json == {**ids, "event": "tool.started", "tool": "t"}
    data = only_terminal(found)
    assert (data["status"], data["ok"], data["outputs"]) == ("ok", True, {"text": "a b"})
    assert bytes(found.body).endswith(b"}\n\n")


@pytest.mark.req("S2.19", "S2.22", "S2.33")
async def test_the_terminal_event_is_what_the_sync_endpoint_answers(server: Server) -> None:
    whole, streamed = (
        await sync(server, task_request("GROUNDED")),
        only_terminal(await stream(server, task_request("GROUNDED"))),
    )
    for data in (whole, streamed):
        del data["usage"], data["provenance"]
    assert streamed == whole


@pytest.mark.req("S2.18", "S2.20", "S2.21")
@pytest.mark.parametrize(
    ("task_type", "inputs", "budgets", "code"),
    [
        ("crashes", {}, {}, "TASK_FAILED"),
        ("explains", {}, {}, "TOOL_ERROR"),
        ("ECHO", {"missing": SECRET}, {}, "VALIDATION_ERROR"),
        ("gated", {}, {"timeout_ms": 100}, "TIMEOUT"),
        ("asks", {}, {"timeout_ms": 100}, "TIMEOUT"),
    ],
)
async def test_a_stream_that_fails_has_one_terminal_event_too(
    server: Server, task_type: str, inputs: dict[str, str], budgets: dict[str, int], code: str
) -> None:
    found = await stream(server, task_request(task_type, inputs=inputs, budgets=budgets))
    data = only_terminal(found)
    assert (data["status"], data["ok"], data["outputs"]) == ("error", False, {})
    assert isinstance(data["error"], dict)
    assert data["error"]["code"] == code
    assert SECRET.encode() not in found.body


@pytest.mark.req("S2.18", "S2.21")
async def test_a_stream_that_is_cancelled_has_one_terminal_event_too(server: Server, gate: Gate) -> None:
    found = await opened(server, task_request("gated"))
    await gate.until_reached()
    await server.http.post(f"/api/runs/{found.header('runyard-run-id')[0]}/cancel")
    await found.to_end()
    data = only_terminal(found)
    assert isinstance(data["error"], dict)
    assert data["error"]["code"] == "CANCELLED"


@pytest.mark.req("S2.18")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_budget_that_is_spent_is_a_warning_in_the_terminal_event(server: Server) -> None:
    found = await stream(server, task_request("thinker", budgets={"max_output_tokens": 50}))
    assert only_terminal(found)["warnings"] == ["MAX_TOKENS_EXCEEDED"]


@pytest.mark.req("S2.17")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("name", sorted(TERMINAL))
async def test_the_name_of_the_terminal_event_is_a_setting(serve: Serve, gate: Gate, name: str) -> None:
    server = await serve(contract_agents(gate), contract_terminal_event=name)
    assert (await stream(server, task_request())).frames[-1].event == name


async def test_a_stream_that_was_left_is_taken_up_where_it_was(server: Server, gate: Gate) -> None:
    first = await opened(server, task_request("gated"))
    await gate.until_reached()
    await first.until(lambda: len(first.frames) >= 2)
    seen = [frame.id for frame in first.frames]
    await first.close()
    gate.open.set()
    run_id = first.header("runyard-run-id")[0]

    back = {"Runyard-Run-Id": run_id, "Last-Event-ID": str(seen[-1])}
    rest = await stream(server, task_request("gated"), **back)
    whole = await stream(server, task_request("gated"), **{"Runyard-Run-Id": run_id})

    assert only_terminal(rest)["outputs"] == {"text": "done"}
    assert [frame.id for frame in whole.frames] == [*seen, *(frame.id for frame in rest.frames)]
    assert rest.frames[-1] == whole.frames[-1]
    assert len(gate.runs) == 1


async def test_every_place_of_a_run_can_be_taken_up(server: Server) -> None:
    whole = await stream(server, task_request("happy"))
    run_id = whole.header("runyard-run-id")[0]
    last = whole.frames[-1].id
    for after in range(last):
        back = {"Runyard-Run-Id": run_id, "Last-Event-ID": str(after)}
        rest = await stream(server, task_request("happy"), **back)
        assert rest.frames == [frame for frame in whole.frames if frame.id > after]


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_request_for_another_task_or_run_cannot_resume_the_stream(server: Server) -> None:
    found = await stream(server, task_request("happy"))
    back = {"Runyard-Run-Id": found.header("runyard-run-id")[0]}
    other = await server.http.post("/agents/run/stream", json=task_request("ECHO"), headers=back)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "CONFLICT")
    for unknown in ("01890000-0000-7000-8000-000000000001", "x", await server.post("happy")):
        missing = await server.http.post(
            "/agents/run/stream", json=task_request("happy"), headers={"Runyard-Run-Id": unknown}
        )
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_bad_place_to_go_on_is_refused_in_the_same_shape(server: Server) -> None:
    answer = await server.http.post("/agents/run/stream", json=task_request(), headers={"Last-Event-ID": "-1"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.req("S2.1", "S2.2")
@pytest.mark.parametrize("backend", ["memory"])
async def test_runs_of_plans_and_tasks_live_side_by_side(server: Server) -> None:
    plan = await server.http.post("/agents/runs", json={"runId": "mine"})
    assert plan.status_code == 201
    assert (await sync(server, task_request()))["status"] == "ok"
    health, ready = await server.http.get("/health"), await server.http.get("/health/ready")
    assert (health.json()["status"], ready.json()["status"]) == ("ok", "ready")
