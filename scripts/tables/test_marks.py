"""Find the tests that carry a mark, such as `@pytest.mark.req("S0.17")` or `@pytest.mark.invariant(4)`.

The tests are read, not imported. A mark counts on a function, on a class, on a whole module (`pytestmark`) and on a
parameter (`pytest.param(..., marks=...)`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T", str, int)


class MarkError(Exception):
    """A mark whose arguments cannot be read. The message is one sentence."""


def tests_by_mark(root: Path, mark: str, kind: type[T], expected: str) -> dict[T, list[str]]:
    """Return the sorted tests for each argument of the mark: argument -> ["tests/...::test_...", ...].

    `expected` describes valid arguments; it completes the error "req takes ...".
    """
    reader = _MarkReader(mark, kind, expected)
    found: dict[T, set[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=name)
        for test, arguments in reader.tests_in(tree.body, name, reader.of_body(tree.body, name)):
            for argument in arguments:
                found.setdefault(argument, set()).add(test)
    return {argument: sorted(tests) for argument, tests in found.items()}


class _MarkReader(Generic[T]):
    """Reads the arguments of one mark from parsed test files."""

    def __init__(self, mark: str, kind: type[T], expected: str) -> None:
        self._mark = mark
        self._kind: type[T] = kind
        self._expected = expected

    def tests_in(
        self, body: list[ast.stmt], prefix: str, inherited: frozenset[T]
    ) -> Iterator[tuple[str, frozenset[T]]]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                own = self._arguments(node.decorator_list, prefix) | self.of_body(node.body, prefix)
                yield from self.tests_in(node.body, f"{prefix}::{node.name}", inherited | own)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                yield f"{prefix}::{node.name}", inherited | self._arguments(node.decorator_list, prefix)
            elif isinstance(node, ast.Assign) and (machine := _state_machine(node)):
                yield f"{prefix}::{machine}", inherited

    def of_body(self, body: list[ast.stmt], where: str) -> frozenset[T]:
        """Return the arguments in the `pytestmark` of a module or class."""
        values = [
            node.value
            for node in body
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)
        ]
        return self._arguments(values, where)

    def _arguments(self, expressions: Iterable[ast.expr], where: str) -> frozenset[T]:
        """Return the arguments of every such mark, also inside lists and `pytest.param(..., marks=...)`."""
        found: set[T] = set()
        for node in (inner for expression in expressions for inner in ast.walk(expression)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {
                f"pytest.mark.{self._mark}",
                f"mark.{self._mark}",
            }:
                for argument in node.args:
                    if not (isinstance(argument, ast.Constant) and isinstance(argument.value, self._kind)):
                        raise MarkError(f"{where}:{node.lineno}: {self._mark} takes {self._expected}.")
                    found.add(argument.value)
        return frozenset(found)


def _state_machine(node: ast.Assign) -> str | None:
    """Return the name of a test that Hypothesis makes: `TestStore = StoreMachine.TestCase`."""
    target = node.targets[0]
    is_case = isinstance(node.value, ast.Attribute) and node.value.attr == "TestCase"
    return target.id if is_case and isinstance(target, ast.Name) and target.id.startswith("Test") else None
