"""docs/AGENT_CONTRACT.md: the shapes of the agent contract, its clauses and its JSON Schema, from the code."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from runyard.contract import checks, findings, wire
from scripts.tables.page import Page

_HEADER = """# The agent HTTP contract

Made by `make docs` from `src/runyard/contract/`; do not edit. [contract.md](contract.md) says how
to serve, use and check agents with it.

An agent is an HTTP service:

| | |
|---|---|
| `POST /agents/run/sync` | takes an AgentRunRequest, answers an AgentRunResponse |
| `POST /agents/run/stream` | takes the same, answers `text/event-stream` |
| `GET /health`, `GET /health/ready` | answer a JSON object with a string `status` |

A stream is `started`, any number of `progress`, and exactly one terminal event, which is the last: `final`, `complete`
or `done`. Its data is an AgentRunResponse with `task_type`, also if the run failed: then `status` is `error`. Events
have an `event:` line and one or more `data:` lines, which are joined by newlines into one JSON object, and end with an
empty line.

A task type that an agent does not know is refused with a 4xx and an AgentRunResponse. Logs and errors carry ids, codes,
counts and durations; never inputs, outputs, bodies or the text of an exception.
"""

_SCHEMA = """
## JSON Schema

Draft 2020-12, also at `GET /agents/schema.json`. It describes an AgentRunResponse; the other shapes are in `$defs`.

```json
"""


def render() -> str:
    parts = [_HEADER, "\n## Shapes\n"]
    definitions = wire.schema()["$defs"]
    parts += [_shape(shape, definitions[shape.__name__]) for shape in wire.SHAPES]
    parts.append("\n## Clauses\n\nWhat `runyard check` looks at.\n\n| check | clause |\n|---|---|\n")
    parts += [f"| `{check.__name__}` | {findings.clause(check)} |\n" for check in checks.CHECKS]
    parts += [_SCHEMA, json.dumps(wire.schema(), indent=2), "\n```\n"]
    return "".join(parts)


def _shape(shape: type[BaseModel], schema: dict[str, Any]) -> str:
    doc = " ".join((shape.__doc__ or "").split())
    rows = "".join(
        f"| `{name}` | {'yes' if name in schema.get('required', ()) else 'no'} | {_kind(field)} "
        f"| {field.get('description', '')} |\n"
        for name, field in schema["properties"].items()
    )
    return f"\n### {shape.__name__}\n\n{doc}\n\n| field | required | type | |\n|---|---|---|---|\n{rows}"


def _kind(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(one) for one in field["anyOf"])
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    return str(field.get("type", "anything"))


PAGE = Page("AGENT_CONTRACT.md", lambda _: render())
