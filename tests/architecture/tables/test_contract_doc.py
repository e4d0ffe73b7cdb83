"""docs/AGENT_CONTRACT.md says what the code does, shape by shape and clause by clause."""

from __future__ import annotations

import json
import re

import pytest

from runyard.contract import wire
from scripts.tables import contract_doc


@pytest.mark.req("S2.32")
def test_the_document_is_current() -> None:
    assert contract_doc.PAGE.is_current, "run 'make docs'"


@pytest.mark.req("S2.12", "S2.32")
def test_the_schema_in_the_document_is_the_one_that_is_served() -> None:
    found = re.search(r"```json\n(.*?)\n```", contract_doc.PAGE.text, re.S)
    assert found is not None
    assert json.loads(found[1]) == wire.schema()
    for name in ("AgentRunRequest", "AgentRunResponse", "AgentError", "GroundingPack", "RetrievalChunk"):
        assert name in wire.schema()["$defs"]
    response = wire.schema()["$defs"]["AgentRunResponse"]
    assert set(response["required"]) == {"status", "request_id", "outputs"}
    assert response["properties"]["status"]["enum"] == ["ok", "success", "error"]
