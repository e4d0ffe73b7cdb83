"""docs/logs.md: every line that Runyard writes into its own log, from the registry and from the calls in the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from runyard.telemetry.log_actions import LOG_ACTIONS, LogAction
from scripts.tables.page import Page

SOURCE = Path(__file__).parents[2] / "src" / "runyard"
METHODS = ("debug", "info", "warning", "error", "exception", "critical")
LOGGERS = ("log", "get_logger()", "structlog.get_logger()")

_HEADER = """# Log lines

Made by `make docs` from `src/runyard/telemetry/log_actions.py` and the calls in the source; do not edit.

Every line has a `timestamp`, a `level` and a stable `action`. `RUNYARD_LOG_FORMAT` sets the format: `json` or
`console`. Lines of a request have its `request_id`, which the response has as `X-Request-ID`. Lines of a run have
`run_id` and `agent`, and the `request_id` of the request that started the run if its worker claimed it at once.

Lines hold ids, names, counts, durations and codes. They never hold content, query strings or the text of exceptions.
Of a library's log record only the source is kept (`library.logged`); uvicorn's messages about the server are kept
without their arguments.

`request.finished` is the access log (`RUNYARD_ACCESS_LOG`). It has the route as docs/http.md names it.

| action | level | meaning | what to do | also has | written by |
|---|---|---|---|---|---|"""


class Call(NamedTuple):
    """One place in the source that writes a log line."""

    action: str
    level: str
    fields: tuple[str, ...]
    module: str


# The formatter itself makes these two: they are no calls of a logger.
FORMATTED = (
    Call("library.logged", "any", ("logger", "where", "error"), "telemetry/logs.py"),
    Call("log.lines_lost", "warning", ("lines",), "telemetry/logs.py"),
)


def calls(source: Path = SOURCE) -> list[Call]:
    """Return every place that writes a log line, sorted by action."""
    return sorted({call for path in source.rglob("*.py") for call in _calls_of(path, source)} | {*FORMATTED})


def _calls_of(path: Path, source: Path) -> Iterator[Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
            continue
        if ast.unparse(node.func.value) not in LOGGERS:
            continue
        action = node.args[0]
        if not isinstance(action, ast.Constant):
            raise SystemExit(f"{path}:{node.lineno}: write the action as a literal, so that it can be looked up.")
        fields = tuple(word.arg for word in node.keywords if word.arg)
        yield Call(str(action.value), node.func.attr, fields, path.relative_to(source).as_posix())


def render() -> str:
    """Return the text of docs/logs.md."""
    found = calls()
    rows = [_row(action, [call for call in found if call.action == action.name]) for action in LOG_ACTIONS]
    return "\n".join([_HEADER, *rows]) + "\n"


def _row(action: LogAction, places: list[Call]) -> str:
    fields = ", ".join(f"`{field}`" for field in dict.fromkeys(field for call in places for field in call.fields))
    modules = ", ".join(f"`{module}`" for module in dict.fromkeys(call.module for call in places))
    return f"| `{action.name}` | {action.level} | {action.meaning} | {action.remedy} | {fields} | {modules} |"


PAGE = Page("logs.md", lambda _: render())
