"""The table in docs/plans.md that says where S4's classes, methods and files are. It must be complete and correct."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from runyard import errors, store
from runyard.agents import execution
from runyard.agents.declared import nodes
from runyard.agents.kinds.plan import node_context
from runyard.base import clock
from runyard.domain.runs import append, run
from runyard.engine.intake import intake
from runyard.engine.log import outbox, stream
from runyard.engine.queries import views

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "runyard"
PAGE = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Names of S4 and names here\n")[2]
HOMES = (clock, errors, store, execution, node_context, nodes, append, run, intake, outbox, stream, views)

NAMES = [
    *("RunRepo", "createRun", "updateRunState", "getRunLastSeq"),
    *("RunEventRepo", "appendEvent", "getUnpublishedEvents", "getPublishedEvents", "markPublished"),
    *("OutboxRepo", "initOutbox", "getNextSeq", "advanceSeq"),
    *("FeatureLayerTracer.emit", "startOutboxWorker", "outbox-publisher.ts", "get-stream-run.ts", "schema.prisma"),
    *("orchestrateRun", "Clock", "Tracer", "CancellationToken", "TimeoutPolicy", "start-run", "run-worker"),
    *("NodeTimeoutError", "NodeInvariantError", "NodeCancelledError", "README.md", "flow.md", "pr:check"),
]


def cells() -> list[tuple[str, str]]:
    rows = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| ")]
    return [(left, right) for left, right in rows if left != "S4"]


@pytest.mark.req("S4.30", "S4.31", "S4.24", "S4.25", "S4.26")
@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_s4_is_in_the_table(name: str) -> None:
    assert any(name in left for left, _ in cells())


def _words(kind: str) -> list[str]:
    words = [word for _, right in cells() for word in re.findall(r"`([^`]+)`", right)]
    patterns = {"file": r"[a-z_]+(/[a-z_]+)*(/|\.py)", "attribute": r"[A-Z]\w+\.\w+", "class": r"[A-Z][a-z]+[A-Z]?\w*"}
    return sorted({word for word in words if re.fullmatch(patterns[kind], word)})


@pytest.mark.req("S4.30")
@pytest.mark.parametrize("name", _words("file"))
def test_a_file_that_the_table_names_is_there(name: str) -> None:
    assert (SOURCE / name).exists() or list((SOURCE / "faces" / "plans").glob(name)), name


def _home(name: str) -> Any:
    return next((getattr(module, name) for module in HOMES if hasattr(module, name)), None)


@pytest.mark.req("S4.31", "S4.24", "S4.25", "S4.26")
@pytest.mark.parametrize("name", _words("attribute"))
def test_a_method_that_the_table_names_is_there(name: str) -> None:
    owner, _, attribute = name.partition(".")
    home = _home(owner)
    assert home is not None, owner
    assert hasattr(home, attribute) or f"self.{attribute} = " in inspect.getsource(home)


@pytest.mark.parametrize("name", _words("class"))
def test_a_class_that_the_table_names_is_there(name: str) -> None:
    assert _home(name) is not None


@pytest.mark.req("S4.31")
def test_tables_are_in_snake_case() -> None:
    for dialect in ("sqlite", "postgres"):
        schema = (SOURCE / "stores" / "sql" / dialect / "schema.sql").read_text(encoding="utf-8")
        names = re.findall(r"^create (?:virtual )?(?:table|view) (\w+)", schema, re.MULTILINE)
        assert {"runs", "run_events", "run_outbox", "run_publication"} <= set(names)
        assert all(re.fullmatch(r"[a-z_]+", name) for name in names)


# --- who may publish -------------------------------------------------------------------------------------------------


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.req("S4.28")
def test_the_runner_of_plans_knows_neither_bus_nor_outbox_nor_store() -> None:
    """Only the journal persists the events of a node."""
    folder = SOURCE / "agents"
    plan = folder / "kinds" / "plan"
    for path in [plan / "runner.py", plan / "node_context.py", folder / "declared" / "nodes.py"]:
        assert not any(re.match(r"runyard\.(bus|engine|stores?|web|faces)", name) for name in _imports(path)), path.name


@pytest.mark.req("S4.11")
def test_only_the_outbox_announces_events() -> None:
    announcers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Hint" and ast.unparse(node.args[0]) == "'log'"
    }
    assert announcers == {"engine/log/outbox.py"}
