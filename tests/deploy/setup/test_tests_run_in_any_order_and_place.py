"""Tests run without xdist, alone and in any order, and in a clone that other users cannot enter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import runyard

ROOT = Path(__file__).parents[3]
STAGED = """
import shutil, sys
from pathlib import Path
import runyard
from runyard.agents.sandbox.staging import Stage

package = Path(runyard.__file__).parent
assert package.is_relative_to(sys.argv[1]), package
shutil.rmtree(package)
stage = Stage("print(1)", None, None)
print(sorted(path.name for path in stage.folder.rglob("*.py")))
"""


def environment(**values: str) -> dict[str, str]:
    """Nothing of the pytest that runs this test."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
    return {**ours, **values}


def test_a_test_of_tools_passes_alone_and_without_xdist(tmp_path: Path) -> None:
    """The first test of a session makes pytest's folder, which must not look like the remains of a sandbox."""
    test = "tests/agents/tools/test_files_stay_in_their_workspace.py::test_sizes_are_bounded"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", test]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment(TMPDIR=str(tmp_path)), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout


def test_a_sandbox_needs_no_file_of_a_package_that_its_user_may_not_reach(tmp_path: Path) -> None:
    """A server that becomes another user cannot read a clone under a folder of mode 0700. Here the files are gone."""
    shutil.copytree(
        Path(runyard.__file__).parent, tmp_path / "runyard", ignore=shutil.ignore_patterns("__pycache__", "built")
    )
    ran = subprocess.run(
        [sys.executable, "-c", STAGED, str(tmp_path)],
        env=environment(PYTHONPATH=str(tmp_path), TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "['main.py', 'supervise.py']\n", ran.stderr
