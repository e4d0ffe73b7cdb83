"""Retries, decisions and idempotency keys."""

import asyncio

import pytest

from runyard.base.ids import new_id
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server


async def test_a_retry_is_a_new_run_for_the_same_message(server: Server) -> None:
    thread_id = await server.thread()
    old = await server.post("fails", "hello", thread_id)
    await server.ended(old)
    answer = await server.http.post(f"/api/runs/{old}/retry")
    assert answer.status_code == 201
    new = answer.json()["run_id"]
    await server.ended(new)
    rows = {row["run_id"]: row for row in (await server.http.get("/api/runs")).json()["runs"]}
    assert (rows[new]["retry_of"], rows[old]["superseded_by"], rows[new]["agent"]) == (old, new, "fails")
    [message] = (await server.http.get(f"/api/threads/{thread_id}")).json()["messages"]
    assert message["content"] == "hello"
    triggers = [(await server.log(run_id))[0]["data"]["trigger"] for run_id in (old, new)]
    assert triggers == [message["id"]] * 2


async def test_only_a_run_that_has_ended_and_was_not_retried_before_can_be_retried(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    refused = await server.http.post(f"/api/runs/{run_id}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "run_active")
    gate.open.set()
    await server.ended(run_id)
    assert (await server.http.post(f"/api/runs/{run_id}/retry")).status_code == 201
    again = await server.http.post(f"/api/runs/{run_id}/retry")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert (await server.http.post(f"/api/runs/{new_id()}/retry")).status_code == 404


@pytest.mark.parametrize(("decision", "word"), [("approve", "yes"), ("reject", "no")])
async def test_a_question_is_listed_and_its_answer_brings_the_run_on(server: Server, decision: str, word: str) -> None:
    run_id = await server.post("asks")
    approval_id = await server.waiting(run_id)
    [row] = (await server.http.get("/api/approvals")).json()["approvals"]
    assert row.pop("created_at")
    assert row == {
        "approval_id": approval_id,
        "run_id": run_id,
        "call_id": row["call_id"],
        "kind": "question",
        "tool": "approve",
        "input": {"amount": 3, "question": "May I?"},
        "state": "pending",
        "agent": "asks",
        "question": "hello",
    }
    answer = await server.http.post(f"/api/approvals/{approval_id}", json={"decision": decision})
    assert answer.status_code == 200
    assert answer.json()["state"] == {"approve": "approved", "reject": "rejected"}[decision]
    stream = await server.ended(run_id)
    assert stream.wire[-2] == ("final", {"text": f"may I? {word}", "sources": []})
    assert (await server.http.get("/api/approvals")).json() == {"approvals": [], "next": None}


async def test_a_tool_that_needs_a_person_runs_after_they_agreed_with_what_they_edited(
    server: Server, gate: Gate
) -> None:
    run_id = await server.post("mails")
    approval_id = await server.waiting(run_id)
    assert gate.calls["mails"] == 0
    body = {"decision": "approve", "input": {"to": "bob", "text": "edited"}}
    await server.http.post(f"/api/approvals/{approval_id}", json=body)
    stream = await server.ended(run_id)
    assert stream.wire == [
        ("tool_start", {"tool": "send_mail", "input": {"text": "edited", "to": "bob"}}),
        ("tool_end", {"tool": "send_mail", "output": {"sent": "bob", "text": "edited"}}),
        ("final", {"text": "sent to bob", "sources": []}),
        ("state", {"status": "done"}),
    ]
    assert gate.calls["mails"] == 1
    kinds = [entry["type"] for entry in await server.log(run_id)]
    assert kinds[1:6] == ["tool.requested", "approval.requested", "run.waiting", "approval.decided", "run.resumed"]


async def test_a_tool_that_was_rejected_is_never_called(server: Server, gate: Gate) -> None:
    run_id = await server.post("mails")
    approval_id = await server.waiting(run_id)
    body = {"decision": "reject", "reason": "no \u0000 mails"}
    assert (await server.http.post(f"/api/approvals/{approval_id}", json=body)).status_code == 200
    stream = await server.ended(run_id)
    assert gate.calls["mails"] == 0
    assert stream.events == ["error", "state"]
    [decided] = [entry for entry in await server.log(run_id) if entry["type"] == "approval.decided"]
    assert decided["data"]["reason"] == "no \ufffd mails"


async def test_the_first_decision_counts(server: Server) -> None:
    run_id = await server.post("asks")
    path = f"/api/approvals/{await server.waiting(run_id)}"
    answers = await asyncio.gather(*(server.http.post(path, json={"decision": "approve"}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    await server.ended(run_id)
    late = await server.http.post(path, json={"decision": "reject"})
    assert (late.status_code, late.json()["code"]) == (409, "already_decided")
    assert (await server.http.post("/api/approvals/nothing", json={"decision": "approve"})).status_code == 404


@pytest.mark.parametrize("backend", ["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_decision_on_a_pod_without_a_worker_wakes_the_run_elsewhere(serve: Serve) -> None:
    worker = await serve()
    other = await serve(worker=False)
    run_id = await worker.post("asks")
    approval_id = await worker.waiting(run_id)
    stream = await other.stream(f"/api/runs/{run_id}/events")
    await other.http.post(f"/api/approvals/{approval_id}", json={"decision": "approve"})
    await stream.to_end()
    assert stream.wire[-1] == ("state", {"status": "done"})


async def test_a_key_makes_a_repeated_thread_the_same_thread(server: Server) -> None:
    headers = {"Idempotency-Key": "once"}
    first, second = [await server.http.post("/api/threads", json={"user_id": 1}, headers=headers) for _ in range(2)]
    assert first.json() == second.json()
    assert (first.status_code, second.status_code) == (201, 201)
    other = await server.http.post("/api/threads", json={"user_id": 2}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert len((await server.http.get("/api/threads")).json()["threads"]) == 1


async def test_a_key_makes_a_repeated_message_the_same_run(server: Server) -> None:
    thread_id = await server.thread()
    path, headers = f"/api/threads/{thread_id}/messages", {"Idempotency-Key": "once"}
    answers = await asyncio.gather(
        *(server.http.post(path, json={"content": "hello", "agent": "happy"}, headers=headers) for _ in range(5))
    )
    assert {answer.status_code for answer in answers} == {201}
    [run_id] = {answer.json()["run_id"] for answer in answers}
    await server.ended(run_id)
    late = await server.http.post(path, json={"content": "hello", "agent": "happy"}, headers=headers)
    assert late.json() == {"run_id": run_id}
    for other in ({"content": "bye", "agent": "happy"}, {"content": "hello"}):
        refused = await server.http.post(path, json=other, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_key_reused")
    assert len((await server.http.get("/api/runs")).json()["runs"]) == 1
    said = (await server.http.get(f"/api/threads/{thread_id}")).json()["messages"]
    assert [message["role"] for message in said] == ["user", "assistant"]


async def test_a_key_makes_a_repeated_retry_the_same_run(server: Server) -> None:
    old = await server.post("fails")
    await server.ended(old)
    headers = {"Idempotency-Key": "once"}
    first = await server.http.post(f"/api/runs/{old}/retry", headers=headers)
    second = await server.http.post(f"/api/runs/{old}/retry", headers=headers)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()


async def test_a_key_belongs_to_its_route(server: Server) -> None:
    headers = {"Idempotency-Key": "once"}
    one = (await server.http.post("/api/threads", headers=headers)).json()["thread_id"]
    two = await server.thread()
    runs = {
        (await server.http.post(f"/api/threads/{thread}/messages", json={"content": "x"}, headers=headers)).json()[
            "run_id"
        ]
        for thread in (one, two)
    }
    assert len(runs) == 2


@pytest.mark.parametrize("key", ["", "x" * 201])
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_key_has_1_to_200_characters(server: Server, key: str) -> None:
    thread_id = await server.thread()
    headers = {"Idempotency-Key": key}
    for path, body in (("/api/threads", {}), (f"/api/threads/{thread_id}/messages", {"content": "x"})):
        assert (await server.http.post(path, json=body, headers=headers)).status_code == 422
    run_id = await server.post("happy")
    await server.ended(run_id)
    assert (await server.http.post(f"/api/runs/{run_id}/retry", headers=headers)).status_code == 422
    allowed = await server.http.post("/api/threads", headers={"Idempotency-Key": "x" * 200})
    assert allowed.status_code == 201
