"""docs/logs.md: every line that Runyard itself writes into its log, by its stable `action`, from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts.page import Page

SOURCE = Path(__file__).parents[1] / "src" / "runyard"
LEVELS = ("debug", "info", "warning", "error")

_HEADER = """# Log lines

Made by `make docs` from the source; do not edit.

Every line has `timestamp`, `level` and a stable `action`; `RUNYARD_LOG_FORMAT` says how it looks (`json`, `console`).
Lines that are written on behalf of a request have its `request_id`, which its answer has as `X-Request-ID`; lines of a
run have `run_id` and `agent` (and the `request_id` of the request that started it, if it was claimed at once). Ids,
names, counts, durations and codes: never content, never a query string, never an exception's text.

`request.done` is the access log (`RUNYARD_ACCESS_LOG`): one line when a request, or a whole stream, is over, with the
route as docs/http.md has it. What libraries log becomes `library.logged`, with where it comes from and nothing of what
it says.

| action | level | also has | written by |
|---|---|---|---|"""


class Line(NamedTuple):
    action: str
    level: str
    fields: str
    module: str


def lines() -> list[Line]:
    return sorted({line for path in SOURCE.rglob("*.py") for line in _lines_of(path)})


def _lines_of(path: Path) -> Iterator[Line]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS):
            continue
        if ast.unparse(node.func.value) not in ("log", "structlog.get_logger()"):
            continue
        action = node.args[0]
        if not isinstance(action, ast.Constant):
            raise SystemExit(f"{path}:{node.lineno}: an action is a word, written out.")
        fields = ", ".join(f"`{word.arg}`" for word in node.keywords if word.arg and word.arg != "action")
        yield Line(str(action.value), node.func.attr, fields, path.relative_to(SOURCE).as_posix())


def render() -> str:
    """The whole of docs/logs.md."""
    rows = [f"| `{line.action}` | {line.level} | {line.fields} | `{line.module}` |" for line in lines()]
    return "\n".join([_HEADER, *rows]) + "\n"


PAGE = Page("logs.md", lambda _: render())
