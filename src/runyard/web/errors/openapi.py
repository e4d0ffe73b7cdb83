"""Adds the errors of every operation to the OpenAPI document: statuses and the shape of the response.

FastAPI declares only a 422, in another shape. This module declares the errors of authentication, limits, ids and
bodies as problems (`application/problem+json`). Faces whose protocol defines errors send those.
"""

from http import HTTPStatus
from typing import Any

from runyard.web.errors.problems import SHAPED, Problem, shape_of

PROBLEM = {
    "title": "Problem",
    "type": "object",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "description": "`urn:runyard:` and the code."},
        "title": {"type": "string", "description": "The HTTP reason phrase of the status."},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "The error, for programs."},
        "detail": {"type": "string", "description": "What is wrong and what to do, for people."},
        "errors": {
            "type": "array",
            "description": "With 422: the invalid parts of the request.",
            "items": {
                "type": "object",
                "required": ["where", "what"],
                "properties": {"where": {"type": "string"}, "what": {"type": "string"}},
            },
        },
        "snapshot": {"description": "With 410: the state of a run whose events were deleted by the retention policy."},
    },
}
SENTENCE = {"title": "Sentence", "type": "string", "description": "What is wrong and what to do, for people."}
UNUSED = ("HTTPValidationError", "ValidationError")
ALWAYS = (400, 408, 413, 422, 431, 500, 503)
BEFORE_ROUTING = (408, 431)  # sent for a connection, before its path is known
OF_RUNS = ("{run_id}", "{interaction_id}", "{response_id}")
STREAM = "text/event-stream"
SEARCHES = ("/api/search", "/api/agents/{agent_id}/passages")  # refused if what they search is encrypted


def _content(kind: str, schema: str) -> dict[str, Any]:
    return {kind: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


PROBLEM_CONTENT = _content(Problem.media_type, "Problem")


def describe(document: dict[str, Any], needs_keys: bool, public: frozenset[str]) -> None:
    """Declare the errors of every operation. `public` holds the paths that need no key."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = PROBLEM
    schemas["Sentence"] = SENTENCE
    for name in UNUSED:
        schemas.pop(name, None)
    for path, operations in document["paths"].items():
        shape = shape_of(path)
        kind, schema = (Problem.media_type, "Problem") if shape is None else (shape.kind, shape.schema)
        for method, operation in operations.items():
            answers = operation["responses"]
            found = _errors(method, path, operation, needs_keys and path not in public)
            if not needs_keys:
                found.add(403)  # pages of other sites (`web/loopback.py`)
            for status in sorted(found | {int(each) for each in answers if each >= "400"}):
                content = PROBLEM_CONTENT if status in BEFORE_ROUTING else _content(kind, schema)
                answers[str(status)] = {"description": HTTPStatus(status).phrase, "content": content}
            if _resumes(operation):
                answers["200"].setdefault("content", {}).setdefault(STREAM, {})
                answers["204"] = {"description": "The run has ended, and Last-Event-ID is at or past its end"}


def _errors(method: str, path: str, operation: dict[str, Any], needs_key: bool) -> set[int]:
    found = set(ALWAYS)
    if needs_key:
        found |= {401, 403, 429}
    if STREAM in str(operation["responses"]) or method != "get":
        found.add(429)  # streams and queues are limited without keys too
    if "{" in path or method != "get" or _names_an_object(operation):
        found.add(404)
    if any(name in path for name in OF_RUNS) or path in SHAPED or _takes_key(operation):
        found.add(410)
    if method != "get" or path in SEARCHES:
        found.add(409)
    if "application/octet-stream" in str(operation.get("requestBody")):
        found.add(415)
    return found


def _takes_key(operation: dict[str, Any]) -> bool:
    """Tell whether a repeated request gets the run of the first one, which may have been deleted."""
    return any(each["name"].lower() == "idempotency-key" for each in operation.get("parameters", ()))


def _names_an_object(operation: dict[str, Any]) -> bool:
    """Tell whether a query parameter holds an id, such as `channelId` or `thread_id`."""
    parameters = operation.get("parameters", ())
    return any(each["in"] == "query" and each["name"].lower().endswith("id") for each in parameters)


def _resumes(operation: dict[str, Any]) -> bool:
    """Tell whether this is the stream of one run, which may have ended."""
    names = {parameter["name"] for parameter in operation.get("parameters", ())}
    return "Last-Event-ID" in names and bool(names & {"run_id", "interaction_id"})
