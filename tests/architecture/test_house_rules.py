"""House rules that a program can check. CONTRIBUTING.md says why they exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
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
