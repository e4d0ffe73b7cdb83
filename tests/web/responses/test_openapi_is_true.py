"""The OpenAPI document declares the errors of every route, in the shape that they really have."""

from typing import Any

from runyard.app.asgi import create_app
from runyard.settings import Settings
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.declared_statuses import Document

CONTRACT = ("/agents/run/sync", "/agents/run/stream")


def test_every_operation_declares_its_errors_as_problems_or_in_the_shape_of_its_protocol() -> None:
    document = create_app(Settings(), agents(Gate())).openapi()
    for path, operations in document["paths"].items():
        has_own_shape = path in CONTRACT or path.startswith(("/v1/", "/api/ag-ui/", "/mcp", "/a2a/", "/langgraph/"))
        kind = "application/json" if has_own_shape else "application/problem+json"
        kind = "text/plain" if path.startswith("/api/ai/") else kind
        for method, operation in operations.items():
            declared = operation["responses"]
            needed = {"400", "413", "422", "500", "503"} | ({"401", "403", "429"} if operation["security"] else set())
            assert needed <= declared.keys(), (method, path)
            assert "{" not in path or "404" in declared, (method, path)
            for status, answer in declared.items():
                meant = "application/problem+json" if status in ("408", "431") else kind
                assert status < "400" or list(answer["content"]) == [meant], (method, path, status)
    assert "HTTPValidationError" not in str(document)


def test_an_answer_that_is_not_declared_is_found() -> None:
    """All tests of apps in process compare the statuses that they see (`declared_statuses.py`)."""
    responses: dict[str, Any] = {"get": {"responses": {"200": {}, "404": {}}}}
    document = Document({"/api/x/{x_id}": responses, "/api/x/all": {"get": {"responses": {"200": {}}}}})
    assert document.undeclared("GET", "/api/x/1", "none", 404) is None
    lack = document.undeclared("GET", "/api/x/1", "/api/x/{x_id}", 410)
    assert lack == "GET /api/x/{x_id} answered 410, which the OpenAPI document does not declare"
    assert "/api/x/all answered 404" in str(document.undeclared("GET", "/api/x/all", "none", 404))
    assert document.undeclared("GET", "/api/y", "none", 404) is None, "a path that no route has"


def test_statuses_that_need_a_certain_state_are_declared() -> None:
    """Encrypted messages cannot be searched; retention drops entries; the run of a repeated request was deleted."""
    paths = create_app(Settings(), agents(Gate())).openapi()["paths"]
    for path in ("/api/search", "/api/agents/{agent_id}/passages"):
        assert "409" in paths[path]["get"]["responses"]
    assert "410" in paths["/api/sse"]["get"]["responses"]
    repeated = [
        operation["responses"]
        for methods in paths.values()
        for operation in methods.values()
        if any(each["name"] == "Idempotency-Key" for each in operation.get("parameters", ()))
    ]
    assert len(repeated) > 20
    assert all("410" in responses for responses in repeated)


def test_the_stream_of_a_run_declares_that_nothing_more_may_come() -> None:
    paths = create_app(Settings(), agents(Gate())).openapi()["paths"]
    for path in ("/api/runs/{run_id}/events", "/api/runs/{run_id}/log", "/agents/runs/{run_id}/stream"):
        assert "204" in paths[path]["get"]["responses"]
    assert "204" not in paths["/api/sse"]["get"]["responses"]
