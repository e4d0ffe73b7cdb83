"""The table of requirements is true, and the lines that are due have tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.tables import requirements
from scripts.tables.test_marks import MarkError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with three lines and one test file."""
    (tmp_path / "docs/requirements").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / requirements.LINES).write_text("## S0: a seed\n\nS0.1 (M) a|b\nS0.2 (I) two\nS0.3 (F) three\n")
    return tmp_path


def test_the_table_is_up_to_date_and_every_named_line_exists() -> None:
    assert requirements.problems() == []


def test_every_line_of_the_seeds_is_listed_once() -> None:
    ids = [line.id for line in requirements.read_lines()]
    counts = {"S0": 43, "S1": 58, "S2": 34, "S3": 42, "S4": 52}
    assert ids == [f"{seed}.{n}" for seed, count in counts.items() for n in range(1, count + 1)]


def test_every_line_that_is_due_has_a_test() -> None:
    covered = requirements.read_tests()
    due = [line.id for line in requirements.read_lines() if line.mark in "MI"]
    assert [line_id for line_id in due if line_id not in covered] == []


def test_markers_are_found_on_functions_classes_modules_and_parameters(project: Path) -> None:
    (project / "tests/test_a.py").write_text(
        "import pytest\n"
        "@pytest.mark.req('S0.1', 'S0.2')\n"
        "async def test_f(): ...\n"
        "@pytest.mark.req('S0.3')\n"
        "class TestC:\n"
        "    def test_m(self): ...\n"
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.req('S0.3'))])\n"
        "def test_p(x): ...\n"
    )
    (project / "tests/test_b.py").write_text(
        "import pytest\npytestmark = [pytest.mark.req('S0.2')]\ndef test_g(): ...\nTestMachine = Machine.TestCase\n"
    )
    assert requirements.read_tests(project) == {
        "S0.1": ["tests/test_a.py::test_f"],
        "S0.2": ["tests/test_a.py::test_f", "tests/test_b.py::TestMachine", "tests/test_b.py::test_g"],
        "S0.3": ["tests/test_a.py::TestC::test_m", "tests/test_a.py::test_p"],
    }


def test_a_stale_table_and_an_unknown_line_are_named(project: Path) -> None:
    (project / "tests/test_a.py").write_text("import pytest\n@pytest.mark.req('S0.99')\ndef test_f(): ...\n")
    unknown, stale = requirements.problems(project)
    assert unknown == "tests/test_a.py::test_f names S0.99, which is no line of docs/requirements/lines.txt."
    assert stale == "docs/requirements.md is stale: run 'make docs' and commit it."


def test_a_written_table_is_not_stale(project: Path) -> None:
    (project / "tests/test_a.py").write_text("import pytest\n@pytest.mark.req('S0.1')\ndef test_f(): ...\n")
    table = requirements.render(requirements.read_lines(project), requirements.read_tests(project))
    (project / requirements.TABLE).write_text(table)
    assert requirements.problems(project) == []
    assert "| S0.1 | M | a\\|b | `tests/test_a.py::test_f` | covered |" in table
    assert "| S0.2 | I | two |  | planned |" in table


def test_a_line_that_is_not_written_out_is_refused(project: Path) -> None:
    (project / "tests/test_a.py").write_text("import pytest\n@pytest.mark.req(LINE)\ndef test_f(): ...\n")
    with pytest.raises(MarkError, match="written out"):
        requirements.read_tests(project)


def test_a_line_whose_tests_prove_less_says_so_with_a_reason(project: Path) -> None:
    (project / requirements.LINES).write_text(
        "## S0: a seed\n\nS0.1 (M) one\n  partly: only a | b.\nS0.2 (F) two\n  open: not begun.\nS0.3 (M) three\n"
    )
    (project / "tests/test_a.py").write_text(
        "import pytest\n@pytest.mark.req('S0.1', 'S0.2', 'S0.3')\ndef test_f(): ...\n"
    )
    table = requirements.render(requirements.read_lines(project), requirements.read_tests(project))
    assert "1 of 3 lines are covered, 1 partly; 1 are open." in table
    assert "| S0.1 | M | one | `tests/test_a.py::test_f` | partly: only a \\| b. |" in table
    assert "| S0.2 | F | two | `tests/test_a.py::test_f` | open: not begun. |" in table
    assert "| S0.3 | M | three | `tests/test_a.py::test_f` | covered |" in table


@pytest.mark.parametrize("limit", ["  open:", "  partly", "  soon: later", " open: one space", "  open: a\n  open: b"])
def test_a_limit_without_a_known_word_and_a_reason_is_refused(project: Path, limit: str) -> None:
    (project / requirements.LINES).write_text(f"## S0: a seed\n\nS0.1 (M) one\n{limit}\n")
    with pytest.raises(requirements.RequirementsError, match="open: reason"):
        requirements.read_lines(project)


def test_a_line_that_is_partly_covered_has_a_test(project: Path) -> None:
    (project / requirements.LINES).write_text("## S0: a seed\n\nS0.1 (M) one\n  partly: half of it.\n")
    assert requirements.problems(project)[0] == "S0.1 is called partly covered and no test names it."


def test_the_replaceable_executor_was_connected_to_another_engine() -> None:
    [line] = [line for line in requirements.read_lines() if line.id == "S0.43"]
    assert not line.limit
    assert (
        "tests/flow/executors/test_another_engine_changes_no_stream.py::test_the_stream_is_the_same_on_our_worker_and_on_celery"
    ) in requirements.read_tests()["S0.43"]
