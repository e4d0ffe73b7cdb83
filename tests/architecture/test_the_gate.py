"""`.ci/run` is the one command that must pass before a merge, and it runs every check."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def recipe(target: str) -> str:
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)
    assert found is not None, target
    return found[1]


@pytest.mark.req("S4.45")
def test_ci_runs_the_checks_and_then_every_test() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line.strip() for line in lines if line.strip().startswith("make ")]
    assert commands == ["make check", "make test || {", "make test-again"]
    assert any(line.startswith("set -e") for line in lines)


def test_a_test_that_fails_twice_fails_ci() -> None:
    """The second try runs exactly the tests that failed, and it is an error if there are none to run."""
    assert "[ -f $(FAILED) ] ||" in recipe("test-again")
    assert "pytest -n 0 --last-failed --last-failed-no-failures none\n" in recipe("test-again")


@pytest.mark.req("S4.45")
@pytest.mark.parametrize("tool", ["ruff check", "ruff format --check", "mypy", "lint-imports"])
def test_the_checks_are_lint_formatting_types_and_imports(tool: str) -> None:
    assert f"$(BIN)/{tool}" in recipe("check")


@pytest.mark.req("S4.45")
def test_no_test_is_left_out_and_the_coverage_has_a_threshold() -> None:
    assert re.search(
        r"pytest -n \$\(TESTERS\) --dist worksteal --durations=10 --cov --cov-report=term ", recipe("test")
    )
    options = PROJECT["tool"]["pytest"]["ini_options"]
    assert not re.search(r"(^| )(-m|-k|--deselect|--ignore)", " ".join(options.get("addopts", [])))
    assert PROJECT["tool"]["coverage"]["report"]["fail_under"] >= 90
