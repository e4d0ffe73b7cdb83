"""House rules that a program can check. CONTRIBUTING.md says why they exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "runyard"
TESTS = ROOT / "tests"

VAGUE_NAMES = {f"{word}{plural}" for word in ("util", "helper", "common", "manager", "service") for plural in ("", "s")}

# Upper case as SQL is written, or a lower-case phrase that only SQL has. Session words (BEGIN, PRAGMA, LISTEN) are not
# queries: a store may say them itself.
SQL = re.compile(
    r"\s*(?:(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|TRUNCATE|MERGE)\s"
    r"|WITH\s+(?:RECURSIVE\s+)?\w+\s+AS\b"
    r"|select\s.*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|(?:create|alter|drop)\s+(?:table|index|view)\s)",
    re.DOTALL,
)
SLEEP = re.compile(r"(?:(?:time|asyncio|anyio)\.)?sleep")

FILE_LINES = 350
PAGE_SUFFIXES = {".ts", ".tsx", ".css"}
PAGE_COLUMNS = 120  # ruff keeps Python within as many
FUNCTION_LINES = 60  # without the docstring
FOLDER_ENTRIES = 16  # without __init__.py
# The folders that people read, and what tools and builds leave there.
READ = ("src", "tests", "bench", "scripts", "examples", "docs", "deploy", "ui", "requirements")
NOT_READ = {"__pycache__", "__init__.py", "node_modules", "built"}
# Longer than the rule, each with its present size, which may only shrink. An entry that is not needed must be removed.
LONG_FILES: dict[str, tuple[int | None, str]] = {}
LONG_FUNCTIONS = {
    "src/runyard/app/process.py::__init__": (66, "names every part of a process once"),
    "src/runyard/app/engine_wiring.py::build_engine": (76, "names every part of the engine once"),
    "tests/agents/contract/test_nothing_of_a_patient_is_logged.py::patients": (78, "one agent with all its steps"),
    "tests/faces/samples/agents_for_tests.py::agents": (121, "one list of small agents"),
    "tests/page/page_agents.py::app": (74, "one list of small agents"),
    "tests/faces/chats/chats_client.py::chat_agents": (81, "one list of small agents"),
}
FULL_FOLDERS = {
    "src/runyard": (24, "one entry for each layer of ARCHITECTURE.md; a folder around several would hide the order"),
    "src/runyard/stores/migrations/versions": (None, "grows with every change of the schema"),
    "docs": (None, "errors, packages and other sites link to these addresses; docs/README.md sorts all pages"),
    "docs/adr": (None, "grows with every decision"),
    "requirements": (18, "the input and the lock file of each environment, which pip and uv find side by side"),
}
ON_PURPOSE = re.compile(r"# waits on purpose: \S")


def test_no_file_has_a_name_that_says_nothing() -> None:
    places = [ROOT / "src", TESTS, ROOT / "scripts", ROOT / "bench"]
    vague = [
        _name(path) for place in places for path in place.rglob("*") if path.stem.strip("_").lower() in VAGUE_NAMES
    ]
    assert vague == []


def test_no_sql_in_python() -> None:
    migrations = SOURCE / "stores" / "migrations"
    found = [
        f"{_name(path)}:{line}"
        for path in _python_files(SOURCE)
        if not path.is_relative_to(migrations)
        for line in sql_strings(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "a query belongs into stores/sql, under a name"


def test_no_test_sleeps() -> None:
    found = [
        f"{_name(path)}:{line}"
        for path in _python_files(TESTS)
        if not path.is_relative_to(TESTS / "support")
        for line in fixed_sleeps(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "wait for a condition, or say '# waits on purpose: <why>' on the line"


def test_every_module_says_what_it_is() -> None:
    silent = [
        _name(path) for path in _python_files(SOURCE) if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_files_and_functions_are_short() -> None:
    places = [ROOT / "src", TESTS, ROOT / "scripts", ROOT / "bench", ROOT / "examples"]
    sources = {_name(path): path.read_text("utf-8") for place in places for path in _python_files(place)}
    of_the_page = [path for path in (ROOT / "ui" / "src").rglob("*") if path.suffix in PAGE_SUFFIXES]
    files = {name: len(source.splitlines()) for name, source in sources.items()}
    files |= {_name(path): len(path.read_text("utf-8").splitlines()) for path in of_the_page}
    functions = {f"{name}::{f}": n for name, source in sources.items() for f, n in function_lengths(source)}
    assert too_large(files, FILE_LINES, LONG_FILES) == [], (
        "a file has one idea: move the second one into a separate file"
    )
    assert too_large(functions, FUNCTION_LINES, LONG_FUNCTIONS) == [], "split the function by its steps"


def test_no_line_of_the_page_is_too_long() -> None:
    found = [
        f"{_name(path)}:{number}"
        for path in sorted((ROOT / "ui" / "src").rglob("*"))
        if path.suffix in PAGE_SUFFIXES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > PAGE_COLUMNS
    ]
    assert found == []


def test_a_folder_can_be_read_at_a_glance() -> None:
    entries = {_name(folder): len(entries_of(folder)) for place in READ for folder in folders_of(ROOT / place)}
    assert too_large(entries, FOLDER_ENTRIES, FULL_FOLDERS) == [], "group files that belong together in a folder"


def folders_of(folder: Path) -> Iterator[Path]:
    """The folder and all folders below it that a reader sees."""
    yield folder
    for path in entries_of(folder):
        if path.is_dir():
            yield from folders_of(path)


def entries_of(folder: Path) -> list[Path]:
    """The files and folders that a reader sees, without caches, builds, `__init__.py` and folders with nothing else."""
    seen = [path for path in folder.iterdir() if path.name not in NOT_READ and not path.name.startswith(".")]
    return [path for path in seen if path.is_file() or entries_of(path)]


def function_lengths(source: str) -> Iterator[tuple[str, int]]:
    """Each function and its number of lines, without the docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            is_docstring = ast.get_docstring(node) is not None
            docstring = (first.end_lineno or 0) - first.lineno + 1 if is_docstring else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - docstring


def too_large(
    sizes: Mapping[str, int], limit: int, exceptions: Mapping[str, tuple[int | None, str]]
) -> list[tuple[str, str]]:
    """Return files above their limit, and exceptions that are not needed."""
    found = []
    for name, size in sizes.items():
        allowed = exceptions[name][0] if name in exceptions else limit
        if allowed is not None and size > allowed:
            found.append((name, f"has {size}, may have {allowed}"))
    unneeded = [name for name in exceptions if sizes.get(name, 0) <= limit]
    return found + [(name, "needs no exception any more: remove it") for name in unneeded]


def sql_strings(source: str) -> Iterator[int]:
    """The lines of string constants (f-strings too, docstrings not) that start like a query."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        if SQL.match(node.value):
            yield node.lineno


def fixed_sleeps(source: str) -> Iterator[int]:
    """The lines that sleep for a fixed time and do not say why."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and SLEEP.fullmatch(ast.unparse(node.func)) and node.args:
            seconds = node.args[0]
            if isinstance(seconds, ast.Constant) and seconds.value and not ON_PURPOSE.search(lines[node.lineno - 1]):
                yield node.lineno


def _python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "source",
    [
        'q = "SELECT 1"',
        'q = f"INSERT INTO {table} VALUES (1)"',
        'q = """\n  WITH ready AS (SELECT 1) SELECT 2"""',
        'q = "select id from runs"',
        'def f():\n    "A docstring."\n    return "DELETE FROM runs"',
    ],
)
def test_the_sql_rule_sees_a_query(source: str) -> None:
    assert list(sql_strings(source))


@pytest.mark.parametrize(
    "source",
    [
        '"""SELECT is mentioned in a docstring."""',
        'q = "Select an agent"',
        'q = "Delete the thread and its runs"',
        'q = "BEGIN IMMEDIATE"',
        'q = "UPDATED"',
        'q = queries["claim_run"]',
    ],
)
def test_the_sql_rule_leaves_prose_alone(source: str) -> None:
    assert not list(sql_strings(source))


@pytest.mark.parametrize("call", ["time.sleep(1)", "asyncio.sleep(0.05)", "anyio.sleep(2)", "sleep(1)"])
def test_the_sleep_rule_sees_a_fixed_wait(call: str) -> None:
    assert list(fixed_sleeps(call)) == [1]
    assert list(fixed_sleeps(f"{call}  # waits on purpose:")) == [1]


@pytest.mark.parametrize(
    "call", ["asyncio.sleep(0)", "asyncio.sleep(lease)", "asyncio.sleep(1)  # waits on purpose: the lease must expire"]
)
def test_the_sleep_rule_leaves_yields_and_reasons_alone(call: str) -> None:
    assert not list(fixed_sleeps(call))


def test_the_size_rule_sees_what_is_too_large_and_what_needs_no_exception() -> None:
    exceptions = {
        "known": (20, "a reason"),
        "small": (20, "a reason"),
        "gone": (20, "a reason"),
        "any": (None, "grows"),
    }
    sizes = {"fine": 10, "long": 11, "known": 20, "small": 10, "any": 99}
    assert [name for name, _ in too_large(sizes, 10, exceptions)] == ["long", "small", "gone"]
    assert too_large({"known": 21}, 10, {"known": (20, "a reason")}) == [("known", "has 21, may have 20")]


def test_the_length_of_a_function_is_that_of_its_code() -> None:
    source = (
        'def f():\n    """One.\n\n    Two."""\n    return 1\n\n\nclass C:\n    async def g(self):\n        return 2\n'
    )
    assert list(function_lengths(source)) == [("f", 2), ("g", 2)]


def test_the_folder_rule_counts_what_a_reader_sees(tmp_path: Path) -> None:
    for name in ("__init__.py", "__pycache__/a.pyc", "node_modules/b/c.js", ".cache/d", "one.py", "two/three.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {path.name for path in entries_of(tmp_path)} == {"one.py", "two"}
    assert set(folders_of(tmp_path)) == {tmp_path, tmp_path / "two"}
