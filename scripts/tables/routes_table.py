"""docs/http.md: every route, what it takes and what it answers, from the app's own OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.app.asgi import create_app
from runyard.settings import Settings
from runyard.web.errors.problems import STATUS
from scripts.tables.page import Page

Document = dict[str, Any]

_HEADER = """# HTTP

Made by `make docs` from the OpenAPI document (`GET /openapi.json`); do not edit.

Bodies are JSON in UTF-8, declared as `application/json`. Times are ISO 8601 in UTC. A POST that creates an object takes
an `Idempotency-Key` (1 to 200 characters, kept for 24 hours). The same request with the same key returns the same
response; another request with that key returns 409. An unknown field or query parameter returns 422 with a hint. The
contract and A2A routes accept unknown fields; they, the routes of MCP and LangGraph and the probes ignore unknown query
parameters.

A stream is `text/event-stream`. It takes `Last-Event-ID`, `fromSeq` and `after`, each the last seq that the client has
seen. The largest of them counts; a value that is not a whole number returns 400. The stream ends cleanly only after the
run's last event. If a connection is cut before, reconnect with the last id. A `Last-Event-ID` at or past the end of an
ended run returns 204, which makes an EventSource stop; `fromSeq` and `after` get an empty stream.

Requests need an API key ([access.md](access.md)): `Authorization: Bearer <key>`, or `X-API-Key: <key>`. The last column
is the scope that the key must have (- if the route needs no key). Other owners' objects return 404.
"""

_ERRORS = """
## Errors

Every error is `application/problem+json` with `type`, `title`, `status`, `code` and `detail`. An invalid request also
has `errors`, each with `where` and `what`. No error repeats text of the request.

| status | when |
|---|---|
"""


def document() -> Document:
    """The OpenAPI document of the app. Nothing is started for it."""
    script = [{"token": "x"}]
    app = App({"any": scripted("any", script)}, {}, "any")
    found: Document = create_app(Settings(), app).openapi()
    return found


def operations(found: Document) -> Iterator[tuple[str, str, Document]]:
    """Method, path and description of every route, face by face."""
    rows = [(method.upper(), path, one) for path, item in found["paths"].items() for method, one in item.items()]
    tags = list(dict.fromkeys(one["tags"][0] for _, _, one in rows))
    yield from sorted(rows, key=lambda row: tags.index(row[2]["tags"][0]))


def render(found: Document | None = None) -> str:
    """The whole of docs/http.md."""
    found = found or document()
    parts, face = [_HEADER], ""
    for method, path, operation in operations(found):
        if operation["tags"][0] != face:
            face = operation["tags"][0]
            parts.append(f"\n## {face}\n\n| route | what it does | takes | answers | scope |\n|---|---|---|---|---|\n")
        what = operation["summary"].replace("|", "\\|")
        takes, answers = _takes(operation, found), _answers(operation, found)
        parts.append(f"| `{method} {path}` | {what} | {takes} | {answers} | {_needs(operation)} |\n")
    parts.append(_ERRORS)
    parts.extend(f"| {status} | {kind.__doc__} |\n" for kind, status in sorted(STATUS, key=lambda row: row[1]))
    return "".join(parts)


def _needs(operation: Document) -> str:
    """The scope that a key must have."""
    return ", ".join(f"`{scope}`" for scope in operation["security"][0]["bearer"]) if operation["security"] else "-"


def _takes(operation: Document, found: Document) -> str:
    given = [
        f"`{parameter['name']}`" + (" (header)" if parameter["in"] == "header" else "")
        for parameter in operation.get("parameters", ())
        if parameter["in"] != "path"
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return ", ".join([_shape(body, found)] * (body is not None) + given)


def _answers(operation: Document, found: Document) -> str:
    follows = any(parameter["name"] == "Last-Event-ID" for parameter in operation.get("parameters", ()))
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            content = answer.get("content", {})
            shape = _shape(content.get("application/json", {}).get("schema"), found)
            if follows or "text/event-stream" in content:
                return "200, a stream" + (f", or {shape}" if shape else "")
            return f"{status} {shape}".strip() if shape else f"{status} {HTTPStatus(int(status)).phrase}"
    return ""


def _shape(schema: Document | None, found: Document) -> str:
    """An object as the names of its fields; those that may be missing end in a question mark."""
    for one in (schema or {}).get("anyOf", [schema or {}]):
        if "$ref" in one:
            model = found["components"]["schemas"][one["$ref"].rpartition("/")[2]]
            required = model.get("required", ())
            names = [name if name in required else f"{name}?" for name in model["properties"]]
            return f"`{{{', '.join(names)}}}`"
    return ""


PAGE = Page("http.md", lambda _: render())
