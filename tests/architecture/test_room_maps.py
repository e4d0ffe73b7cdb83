"""Docstrings name only files that exist, so that a reader who follows them arrives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "runyard"
FILE = re.compile(r"`([\w/*.-]+\.py)`")


def missing_files(path: Path) -> Iterator[str]:
    """The files that the docstrings of a module name in backticks and that do not exist.

    A name is relative to the folder of the module or to src/runyard; a test is named from the root of the repository.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            for name in FILE.findall(ast.get_docstring(node, clean=False) or ""):
                places = [ROOT] if name.startswith("tests/") else [path.parent, SOURCE]
                if not any(any(place.glob(name)) for place in places):
                    yield name


def test_every_file_that_a_docstring_names_exists() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}" for path in sorted(SOURCE.rglob("*.py")) for name in missing_files(path)
    ]
    assert missing == [], "name a file of the same folder, or its path below src/runyard"


@pytest.mark.parametrize(
    ("docstring", "missing"),
    [
        ("`beside.py` and `agents/execution.py` exist.", []),
        ("`agents/kinds/*/runner.py` exist.", []),
        ("`tests/architecture/test_room_maps.py` exists.", []),
        ("`gone.py` was renamed.", ["gone.py"]),
        ("`kinds/runners.py` is in another folder.", ["kinds/runners.py"]),
    ],
)
def test_the_rule_sees_a_file_that_is_missing(docstring: str, missing: list[str], tmp_path: Path) -> None:
    (tmp_path / "beside.py").touch()
    module = tmp_path / "module.py"
    module.write_text(f'"""{docstring}"""', encoding="utf-8")
    assert list(missing_files(module)) == missing
