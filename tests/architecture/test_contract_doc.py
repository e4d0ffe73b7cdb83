"""docs/AGENT_CONTRACT.md says what the code does, shape by shape and clause by clause."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from runyard.contract import wire
from scripts import contract_doc


@pytest.mark.req("S2.32")
def test_the_document_is_current() -> None:
    assert contract_doc.is_current(), "run 'python -m scripts.contract_doc'"


@pytest.mark.req("S2.12", "S2.32")
def test_the_schema_in_the_document_is_the_one_that_is_served() -> None:
    found = re.search(r"```json\n(.*?)\n```", contract_doc.DOCUMENT.read_text(encoding="utf-8"), re.S)
    assert found is not None
    assert json.loads(found[1]) == wire.schema()
    for name in ("AgentRunRequest", "AgentRunResponse", "AgentError", "GroundingPack", "RetrievalChunk"):
        assert name in wire.schema()["$defs"]
    response = wire.schema()["$defs"]["AgentRunResponse"]
    assert set(response["required"]) == {"status", "request_id", "outputs"}
    assert response["properties"]["status"]["enum"] == ["ok", "success", "error"]


def test_a_stale_document_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(contract_doc, "DOCUMENT", tmp_path / "AGENT_CONTRACT.md")
    assert contract_doc.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert contract_doc.main([]) == 0
