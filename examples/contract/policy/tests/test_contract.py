"""The policy agent keeps the contract."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from examples.contract.asking import asked, events, terminal_of
from examples.contract.policy import main


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with asked(main, tmp_path) as found:
        yield found


def request(text: Any) -> dict[str, Any]:
    return {"request_id": "pol-1", "task_type": "POLICY_REVIEW", "inputs": {"text": text}}


def test_sync_says_whether_a_text_may_be_used(client: TestClient) -> None:
    fine = client.post("/agents/run/sync", json=request("A summary of published trials.")).json()
    assert fine["outputs"] == {"allowed": True, "reasons": []}
    not_fine = client.post("/agents/run/sync", json=request("Patient name: N. N., MRN 12")).json()
    assert not_fine["outputs"] == {"allowed": False, "reasons": ["PATIENT_NAME", "RECORD_NUMBER"]}


def test_an_input_that_is_not_a_text_is_a_validation_error(client: TestClient) -> None:
    found = client.post("/agents/run/sync", json=request(["x"])).json()
    assert (found["status"], found["error"]["code"]) == ("error", "VALIDATION_ERROR")


def test_stream_terminal_event_has_request_id_task_type_status(client: TestClient) -> None:
    terminal = terminal_of(events(client.post("/agents/run/stream", json=request("x")).text))
    assert (terminal["request_id"], terminal["task_type"], terminal["status"]) == ("pol-1", "POLICY_REVIEW", "ok")
