"""Every task gets one envelope, however its run ended, also if no run was started."""

import asyncio
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from runyard.contract.wire import schema
from tests.faces.contract.contract_client import GROUNDING, contract_agents, opened, post, sync, task_request
from tests.faces.samples.agents_for_tests import SECRET, Gate
from tests.support.in_process.live_server import Serve, Server

ENVELOPE = jsonschema.Draft202012Validator(schema())
LABELS = {
    "workflow_id": "w",
    "stage_id": "s",
    "user_id": "u",
    "mode": "LIVE",
    "risk_tier": "NON_SENSITIVE",
    "domain_id": "clinical",
}


@pytest.mark.req("S2.1", "S2.3", "S2.8", "S2.9", "S2.10", "S2.12", "S2.22")
async def test_a_task_is_done_and_answered_in_one_envelope(server: Server) -> None:
    answer = await server.http.post("/agents/run/sync", json=task_request(inputs={"query": "Rüst"}))

    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    ENVELOPE.validate(found)
    assert (found["request_id"], found["task_type"], found["status"], found["ok"]) == ("req-1", "ECHO", "ok", True)
    assert found["outputs"]["inputs"] == {"query": "Rüst"}
    assert found["outputs"]["said"] == "Rüst"
    assert found["error"] is None
    assert found["warnings"] == found["artifacts"] == []
    assert found["usage"]["duration_ms"] >= 0
    run_id = found["provenance"]["run_id"]
    assert answer.headers["runyard-run-id"] == run_id
    assert (await server.run(run_id))["status"] == "done"


@pytest.mark.req("S2.4", "S2.5", "S2.6")
async def test_every_optional_field_reaches_the_agent(server: Server) -> None:
    found = await sync(server, task_request(**LABELS))
    assert found["outputs"]["labels"] == {"request_id": "req-1", **LABELS}


@pytest.mark.req("S2.4", "S2.5", "S2.6", "S2.9")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("value", [{}, dict.fromkeys([*LABELS, "inputs", "budgets"])], ids=["absent", "null"])
async def test_optional_fields_may_be_left_out_or_null_and_the_mode_is_then_demo(
    server: Server, value: dict[str, Any]
) -> None:
    found = await sync(server, task_request(**value))
    assert found["outputs"]["labels"] == {"request_id": "req-1", "mode": "DEMO"}
    assert found["outputs"]["inputs"] == {}


@pytest.mark.req("S2.12")
@pytest.mark.parametrize("backend", ["memory"])
async def test_grounding_artifacts_and_warnings_have_their_own_fields(server: Server) -> None:
    found = await sync(server, task_request("GROUNDED"))
    ENVELOPE.validate(found)
    assert found["outputs"] == {"count": 1, "text": "the answer"}
    assert found["grounding"] == GROUNDING
    assert found["artifacts"] == ["s3://a"]
    assert found["warnings"] == ["OLD_INDEX"]


@pytest.mark.parametrize("backend", ["memory"])
async def test_fields_of_the_wrong_shape_stay_among_the_outputs(server: Server) -> None:
    found = await sync(server, task_request("misshapen"))
    ENVELOPE.validate(found)
    assert found["outputs"] == {"grounding": "none", "warnings": 3, "artifacts": [1]}


@pytest.mark.req("S2.33")
@pytest.mark.parametrize("backend", ["memory"])
async def test_every_agent_does_tasks_of_its_own_name(server: Server) -> None:
    assert (await sync(server, task_request("happy")))["outputs"] == {"text": "a b"}
    assert (await sync(server, task_request("echo")))["outputs"]["said"] == "{}"


@pytest.mark.parametrize("backend", ["memory"])
async def test_the_outputs_of_a_plan_are_what_its_nodes_found(server: Server) -> None:
    found = await sync(server, task_request("pipeline", inputs={"query": "four"}))
    assert found["outputs"] == {"Find": {"query": "four"}, "Count": 4}


@pytest.mark.req("S2.8")
async def test_a_request_id_is_a_trace_id_and_may_come_again(server: Server, gate: Gate) -> None:
    first, second = await sync(server, task_request()), await sync(server, task_request())
    assert first["provenance"]["run_id"] != second["provenance"]["run_id"]
    assert gate.calls["echo"] == 2


async def test_an_idempotency_key_starts_one_run(server: Server, gate: Gate) -> None:
    key = {"Idempotency-Key": "k"}
    first, second = await sync(server, task_request(), 200, **key), await sync(server, task_request(), 200, **key)
    assert first["provenance"] == second["provenance"]
    assert gate.calls["echo"] == 1
    other = await sync(server, task_request(inputs={"query": "other"}), 409, **key)
    assert other["error"]["code"] == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.req("S2.7", "S2.25")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("path", ["/agents/run/sync", "/agents/run/stream"])
async def test_a_task_of_an_unknown_type_is_refused_in_the_same_shape(server: Server, path: str) -> None:
    answer = await post(server, path, task_request("NOBODY", inputs={"query": SECRET}))
    found = answer.json()
    assert answer.status_code == 400
    ENVELOPE.validate(found)
    assert (found["request_id"], found["task_type"]) == ("req-1", "NOBODY")
    assert (found["status"], found["ok"], found["outputs"]) == ("error", False, {})
    assert found["warnings"] == ["UNSUPPORTED_TASK_TYPE"]
    assert found["error"]["code"] == found["detail"]["error"]["code"] == "UNSUPPORTED_TASK_TYPE"
    assert SECRET not in answer.text


BROKEN: dict[str, tuple[Any, int, list[str]]] = {
    "no request id": ({"task_type": "ECHO"}, 422, ["request_id"]),
    "an empty request id": ({"request_id": "", "task_type": "ECHO"}, 422, ["request_id"]),
    "a request id that is no text": ({"request_id": 7, "task_type": "ECHO"}, 422, ["request_id"]),
    "no task type": ({"request_id": "req-1"}, 422, ["task_type"]),
    "inputs that are a list": (task_request(inputs=[SECRET]), 422, ["inputs"]),
    "budgets that are a text": (task_request(budgets=SECRET), 422, ["budgets"]),
    "a time of nothing": (task_request(budgets={"timeout_ms": 0}), 422, ["budgets"]),
    "a mode that is a number": (task_request(mode=3), 422, ["mode"]),
    "a list": ([SECRET], 422, []),
}


@pytest.mark.req("S2.3", "S2.25")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("path", ["/agents/run/sync", "/agents/run/stream"])
async def test_a_request_that_does_not_fit_is_refused_and_not_repeated(server: Server, path: str) -> None:
    for name, (body, status, fields) in BROKEN.items():
        answer = await post(server, path, body)
        found = answer.json()
        assert answer.status_code == status, name
        ENVELOPE.validate(found)
        assert found["error"]["code"] == "INVALID_REQUEST", name
        assert found["error"]["details"] == ({"fields": fields} if fields else {}), name
        assert found["request_id"], name
        assert SECRET not in answer.text, name
    unread = await server.http.post(path, content=b'{"request_id": "' + SECRET.encode(), headers=JSON)
    assert unread.status_code == 400
    ENVELOPE.validate(unread.json())
    assert SECRET not in unread.text


JSON = {"content-type": "application/json"}


@pytest.mark.req("S2.21", "S2.25")
@pytest.mark.parametrize("backend", ["memory"])
async def test_inputs_that_the_agent_cannot_use_are_an_answer(server: Server) -> None:
    found = await sync(server, task_request(inputs={"missing": SECRET}))
    ENVELOPE.validate(found)
    assert (found["status"], found["ok"], found["outputs"]) == ("error", False, {})
    assert found["error"]["code"] == "VALIDATION_ERROR"
    assert found["error"]["details"]["fields"] == ["query"]


@pytest.mark.req("S2.25")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize(("agent", "code"), [("crashes", "TASK_FAILED"), ("explains", "TOOL_ERROR")])
async def test_a_failure_is_a_code_and_never_the_words_of_the_agent(server: Server, agent: str, code: str) -> None:
    found = await sync(server, task_request(agent))
    ENVELOPE.validate(found)
    assert found["error"]["code"] == code
    assert SECRET not in str(found)


@pytest.mark.req("S2.6")
async def test_tokens_are_limited_by_the_budget(server: Server) -> None:
    free = await sync(server, task_request("thinker"))
    assert (free["warnings"], free["usage"]["output_tokens"]) == ([], 51)
    found = await sync(server, task_request("thinker", budgets={"max_output_tokens": 50}))
    assert (found["status"], found["warnings"]) == ("ok", ["MAX_TOKENS_EXCEEDED"])
    assert found["usage"]["output_tokens"] == 50


@pytest.mark.req("S2.6")
async def test_a_question_that_is_longer_than_the_budget_is_an_error(server: Server) -> None:
    refused = await sync(server, task_request("thinker", budgets={"max_context_tokens": 1}))
    ENVELOPE.validate(refused)
    assert (refused["status"], refused["error"]["code"]) == ("error", "CONTEXT_TOO_LONG")
    assert "output_tokens" not in refused["usage"], "the model was not asked"


@pytest.mark.req("S2.6")
async def test_a_provider_that_overruns_the_budget_is_stopped(server: Server) -> None:
    found = await sync(server, task_request("chatterbox", budgets={"max_output_tokens": 50}))
    assert (found["status"], found["warnings"]) == ("ok", ["MAX_TOKENS_EXCEEDED"])
    assert 50 <= found["usage"]["output_tokens"] <= 110
    events = await server.log(found["provenance"]["run_id"])
    assert sum(1 for event in events if event["type"] == "model.token") < 200


@pytest.mark.req("S2.6", "S2.21")
async def test_a_run_that_takes_too_long_is_ended(server: Server) -> None:
    found = await sync(server, task_request("gated", budgets={"timeout_ms": 100}))
    assert found["error"]["code"] == "TIMEOUT"
    assert (await server.run(found["provenance"]["run_id"]))["status"] in {"error", "canceled"}


@pytest.mark.req("S2.6", "S2.21")
async def test_the_time_goes_on_while_a_run_waits_for_a_person(server: Server, gate: Gate) -> None:
    found = await sync(server, task_request("asks", budgets={"timeout_ms": 200}))
    assert found["error"]["code"] == "TIMEOUT"
    run = await server.run(found["provenance"]["run_id"])
    assert run["status"] in {"error", "canceled"}
    assert gate.calls["asks"] <= 1  # none, on a machine that is slow to begin


@pytest.mark.req("S2.6")
async def test_the_question_of_a_run_expires_with_its_time(server: Server) -> None:
    begun = await opened(server, task_request("asks", budgets={"timeout_ms": 60_000}))
    run_id = begun.header("runyard-run-id")[0]
    await server.waiting(run_id)
    await server.http.post(f"/api/runs/{run_id}/cancel")
    log = await server.log(run_id)
    question = next(event for event in log if event["type"] == "approval.requested")
    assert abs(question["data"]["expires_at"] - log[0]["ts"] - 60_000) < 1000
    await begun.close()


@pytest.mark.req("S2.6", "S2.21")
async def test_the_time_limit_includes_time_without_a_worker(serve: Serve, gate: Gate) -> None:
    server = await serve(contract_agents(gate), worker=False)
    found = await sync(server, task_request(budgets={"timeout_ms": 100}))
    assert found["error"]["code"] == "TIMEOUT"
    assert (await server.run(found["provenance"]["run_id"]))["status"] == "canceled"


@pytest.mark.req("S2.21")
async def test_a_run_that_another_client_cancels_is_answered(server: Server, gate: Gate) -> None:
    asking = asyncio.create_task(sync(server, task_request("gated")))
    await gate.until_reached()
    await server.http.post(f"/api/runs/{gate.runs[0]}/cancel")
    found = await asking
    assert (found["status"], found["error"]["code"]) == ("error", "CANCELLED")


async def test_a_retried_run_has_the_same_task(server: Server) -> None:
    found = await sync(server, task_request(inputs={"query": "again"}))
    answer = await server.http.post(f"/api/runs/{found['provenance']['run_id']}/retry")
    run_id = answer.json()["run_id"]
    log = await server.log(run_id)
    assert log[0]["data"]["task"]["inputs"] == {"query": "again"}
    assert next(event for event in log if event["type"] == "run.output")["data"]["outputs"]["said"] == "again"


@pytest.mark.req("S2.32")
@pytest.mark.parametrize("backend", ["memory"])
async def test_the_schema_is_served(server: Server) -> None:
    answer = await server.http.get("/agents/schema.json")
    assert answer.json() == schema()
    jsonschema.Draft202012Validator.check_schema(answer.json())
