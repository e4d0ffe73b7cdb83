"""Write docs/AGENT_CONTRACT.md: the shapes of the agent contract, its clauses and its JSON Schema, from the code.

python -m scripts.contract_doc            write the document
python -m scripts.contract_doc --check    exit 1 when it is stale
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from runyard.contract import checks, wire

DOCUMENT = Path(__file__).parents[1] / "docs" / "AGENT_CONTRACT.md"

_HEADER = """# The agent HTTP contract

Made by `python -m scripts.contract_doc` from `src/runyard/contract/`; do not edit. [contract.md](contract.md) says how
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
    parts += [f"| `{check.__name__}` | {checks.clause(check)} |\n" for check in checks.CHECKS]
    parts += [_SCHEMA, json.dumps(wire.schema(), indent=2), "\n```\n"]
    return "".join(parts)


def is_current() -> bool:
    return DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == render()


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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write docs/AGENT_CONTRACT.md from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when it is stale")
    if not parser.parse_args(arguments).check:
        DOCUMENT.write_text(render(), encoding="utf-8")
    if is_current():
        return 0
    print(
        "contract: docs/AGENT_CONTRACT.md is stale: run 'python -m scripts.contract_doc' and commit it.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
