"""The retrieval agent keeps the contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from examples.contract.asking import asked, events, terminal_of
from examples.contract.retrieval import main

INPUTS = {"query": "aspirin", "knowledgeBase": "default", "topK": 5, "domainId": "clinical", "projectId": "p"}
REQUEST = {"request_id": "rag-1", "task_type": "RAG_RETRIEVE", "inputs": INPUTS}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with asked(main, tmp_path) as found:
        yield found


def test_sync_answers_chunks_and_citations(client: TestClient) -> None:
    found = client.post("/agents/run/sync", json=REQUEST).json()
    grounding = found["grounding"]
    assert found["status"] == "ok"
    assert set(grounding["citations"]) == {"guide_001", "guide_002"}
    assert [chunk["doc_id"] for chunk in grounding["chunks"]] == grounding["citations"]
    assert all(chunk["chunk_id"] and chunk["text"] for chunk in grounding["chunks"])
    assert grounding["retrieval_trace"]["stages"] == ["full-text"]


def test_sync_takes_no_more_than_it_was_asked_for(client: TestClient) -> None:
    found = client.post("/agents/run/sync", json=REQUEST | {"inputs": INPUTS | {"topK": 1}}).json()
    assert len(found["grounding"]["chunks"]) == 1


def test_a_missing_query_is_a_validation_error(client: TestClient) -> None:
    answer = client.post("/agents/run/sync", json=REQUEST | {"inputs": {}})
    found = answer.json()
    assert (answer.status_code, found["status"], found["error"]["code"]) == (200, "error", "VALIDATION_ERROR")
    assert found["error"]["details"]["fields"] == ["query"]


def test_a_wrong_task_type_is_refused(client: TestClient) -> None:
    answer = client.post("/agents/run/sync", json=REQUEST | {"task_type": "OTHER"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "UNSUPPORTED_TASK_TYPE")


def test_stream_terminal_event_has_request_id_task_type_status(client: TestClient) -> None:
    terminal = terminal_of(events(client.post("/agents/run/stream", json=REQUEST).text))
    assert (terminal["request_id"], terminal["task_type"], terminal["status"]) == ("rag-1", "RAG_RETRIEVE", "ok")
    assert terminal["grounding"]["chunks"]
