"""Every invariant of ARCHITECTURE.md has tests that prove it, and the page lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.tables import invariants_table
from scripts.tables.test_marks import MarkError

PAGE = """# Architecture

## Invariants

1. One
   thing.
2. Another | thing.

Not an invariant.

## Layers

3. Not an invariant either.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with two invariants and no test."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "ARCHITECTURE.md").write_text(PAGE)
    return tmp_path


def test_every_invariant_has_a_test_and_every_mark_names_an_invariant() -> None:
    invariants = invariants_table.read_invariants()
    assert list(invariants) == list(range(1, len(invariants) + 1))
    assert invariants_table.problems(invariants, invariants_table.read_tests()) == []


def test_an_invariant_without_a_test_and_an_unknown_number_are_named(project: Path) -> None:
    (project / "tests/test_a.py").write_text("import pytest\n@pytest.mark.invariant(1, 3)\ndef test_f(): ...\n")
    invariants, tests = invariants_table.read_invariants(project), invariants_table.read_tests(project)
    assert invariants_table.problems(invariants, tests) == [
        "Invariant 2 has no test; mark one with @pytest.mark.invariant(2).",
        "tests/test_a.py::test_f names invariant 3, which ARCHITECTURE.md does not have.",
    ]


def test_the_page_has_each_invariant_with_its_tests(project: Path) -> None:
    (project / "tests/test_a.py").write_text(
        "import pytest\npytestmark = pytest.mark.invariant(1)\ndef test_f(): ...\n"
    )
    page = invariants_table.render(invariants_table.read_invariants(project), invariants_table.read_tests(project))
    assert "| 1 | One thing. | `tests/test_a.py::test_f` |" in page
    assert "| 2 | Another \\| thing. |  |" in page


def test_a_number_that_is_not_written_out_is_refused(project: Path) -> None:
    (project / "tests/test_a.py").write_text("import pytest\n@pytest.mark.invariant('1')\ndef test_f(): ...\n")
    with pytest.raises(MarkError, match="numbers written out"):
        invariants_table.read_tests(project)
