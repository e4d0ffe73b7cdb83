"""A wheel without the page is not built silently: pip shows what a build says only when it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[3]
INDEX = "runyard/web/built/index.html"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """As much of the project as a build needs, without the sources of the page."""
    made = tmp_path / "project"
    (made / "src" / "runyard").mkdir(parents=True)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/runyard/__init__.py"):
        shutil.copyfile(ROOT / name, made / name)
    return made


def build(project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(project / "dist")]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def names(project: Path) -> list[str]:
    [wheel] = (project / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        return archive.namelist()


def test_a_package_that_would_lack_the_page_is_an_error_that_says_what_to_do(project: Path) -> None:
    told = build(project)
    assert told.returncode != 0
    assert "The web page could not be built" in told.stdout + told.stderr
    assert "WITHOUT_PAGE=1" in told.stdout + told.stderr
    assert not list((project / "dist").glob("*.whl"))


def test_a_package_without_the_page_can_be_asked_for(project: Path) -> None:
    assert build(project, WITHOUT_PAGE="1").returncode == 0
    assert INDEX not in names(project)


def test_a_page_that_was_built_before_is_packed(project: Path) -> None:
    page = project / "src" / INDEX
    page.parent.mkdir(parents=True)
    page.write_text("<!doctype html>", encoding="utf-8")
    assert build(project).returncode == 0
    assert INDEX in names(project)
