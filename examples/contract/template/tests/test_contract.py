"""The agent keeps the contract. Run with `python -m pytest` in the folder above."""

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent import task
from agent.main import app
from agent.schemas import AgentRunRequest, AgentRunResponse

client = TestClient(app)
TERMINAL = {"final", "complete", "done"}
MARKER = "a marker that no log and no error may carry"


def request(**other: Any) -> dict[str, Any]:
    return {"request_id": "req-1", "task_type": task.TASK_TYPE, "inputs": {"text": "three small words"}} | other


def events(body: str) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.split("\n") for block in body.split("\n\n") if block]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


def test_sync_answers_one_envelope() -> None:
    answer = client.post("/agents/run/sync", json=request())
    found = AgentRunResponse.model_validate(answer.json())
    assert (answer.status_code, found.status, found.request_id) == (200, "ok", "req-1")
    assert found.outputs == {"words": 3}


def test_stream_terminal_event_has_request_id_task_type_status() -> None:
    answer = client.post("/agents/run/stream", json=request())
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = events(answer.text)
    assert [name for name, _ in found if name in TERMINAL] == [found[-1][0]]
    assert found[0] == ("started", {"request_id": "req-1", "task_type": task.TASK_TYPE})
    terminal = AgentRunResponse.model_validate(found[-1][1])
    assert (terminal.request_id, terminal.task_type, terminal.status) == ("req-1", task.TASK_TYPE, "ok")


@pytest.mark.parametrize("path", ["/agents/run/sync", "/agents/run/stream"])
def test_an_unsupported_task_is_refused_in_the_same_shape(path: str) -> None:
    answer = client.post(path, json=request(task_type="OTHER", inputs={"text": MARKER}))
    found = AgentRunResponse.model_validate(answer.json())
    assert (answer.status_code, found.ok, found.request_id) == (400, False, "req-1")
    assert found.warnings == ["UNSUPPORTED_TASK_TYPE"]
    broken = client.post(path, json={"task_type": task.TASK_TYPE, "inputs": {"text": MARKER}})
    assert broken.status_code == 422
    assert AgentRunResponse.model_validate(broken.json()).error is not None
    assert MARKER not in answer.text + broken.text


@pytest.mark.parametrize("path", ["/agents/run/sync", "/agents/run/stream"])
def test_a_failure_is_a_code_in_the_same_shape(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def crash(asked: AgentRunRequest) -> dict[str, Any]:
        raise ValueError(MARKER)

    monkeypatch.setattr(task, "do", crash)
    with caplog.at_level(logging.DEBUG):
        answer = client.post(path, json=request(inputs={"text": MARKER}))
    data = events(answer.text)[-1][1] if path.endswith("stream") else answer.json()
    found = AgentRunResponse.model_validate(data)
    assert (found.status, found.outputs) == ("error", {})
    assert found.error is not None
    assert found.error.code == "TASK_FAILED"
    assert MARKER not in answer.text + caplog.text


def test_wrong_inputs_and_a_budget_that_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = client.post("/agents/run/sync", json=request(inputs={"text": 3})).json()
    assert (wrong["error"]["code"], wrong["error"]["details"]) == ("VALIDATION_ERROR", {"fields": ["text"]})

    async def wait(asked: AgentRunRequest) -> dict[str, Any]:
        await asyncio.get_running_loop().create_future()
        return {}

    monkeypatch.setattr(task, "do", wait)
    late = client.post("/agents/run/sync", json=request(budgets={"timeout_ms": 20})).json()
    assert late["error"]["code"] == "TIMEOUT"


def test_health() -> None:
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/health/ready").json()["status"] == "ready"
