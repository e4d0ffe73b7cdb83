"""The literature agent keeps the contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from examples.contract.asking import asked, events, terminal_of
from examples.contract.literature import main

REQUEST = {"request_id": "lit-1", "task_type": "LIT_RETRIEVAL", "inputs": {"query": "aspirin stroke"}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with asked(main, tmp_path) as found:
        yield found


def test_sync_finds_papers(client: TestClient) -> None:
    found = client.post("/agents/run/sync", json=REQUEST).json()
    assert (found["status"], found["request_id"]) == ("ok", "lit-1")
    assert found["outputs"]["count"] == len(found["outputs"]["papers"]) == 2
    assert {paper["id"] for paper in found["outputs"]["papers"]} == {"paper_001", "paper_004"}
    assert found["warnings"] == []


def test_sync_warns_when_nothing_fits(client: TestClient) -> None:
    found = client.post("/agents/run/sync", json=REQUEST | {"inputs": {"query": "zebrafish"}}).json()
    assert (found["outputs"], found["warnings"]) == ({"papers": [], "count": 0}, ["NO_RESULTS"])


def test_stream_terminal_event_has_request_id_task_type_status(client: TestClient) -> None:
    answer = client.post("/agents/run/stream", json=REQUEST)
    assert answer.headers["content-type"].startswith("text/event-stream")
    terminal = terminal_of(events(answer.text))
    assert (terminal["request_id"], terminal["task_type"], terminal["status"]) == ("lit-1", "LIT_RETRIEVAL", "ok")
    assert terminal["outputs"]["count"] == 2


def test_a_wrong_task_type_is_refused(client: TestClient) -> None:
    answer = client.post("/agents/run/sync", json=REQUEST | {"task_type": "OTHER"})
    assert answer.status_code == 400
    assert answer.json()["detail"]["error"]["code"] == "UNSUPPORTED_TASK_TYPE"
