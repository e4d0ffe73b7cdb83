"""What must be green before anything lands: one command, which leaves nothing out."""

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
    commands = [line for line in lines if line and not line.startswith(("#", "echo", "set", "cd"))]
    assert commands == ["make check", "make test"]
    assert any(line.startswith("set -e") for line in lines)


@pytest.mark.req("S4.45")
@pytest.mark.parametrize("tool", ["ruff check", "ruff format --check", "mypy", "lint-imports"])
def test_the_checks_are_lint_formatting_types_and_imports(tool: str) -> None:
    assert f"$(BIN)/{tool}" in recipe("check")


@pytest.mark.req("S4.45")
def test_no_test_is_left_out_and_the_coverage_has_a_threshold() -> None:
    assert re.search(
        r"pytest -n \$\(TESTERS\) --dist worksteal --durations=10 --cov --cov-report=term\n", recipe("test")
    )
    options = PROJECT["tool"]["pytest"]["ini_options"]
    assert not re.search(r"(^| )(-m|-k|--deselect|--ignore)", " ".join(options.get("addopts", [])))
    assert PROJECT["tool"]["coverage"]["report"]["fail_under"] >= 90
