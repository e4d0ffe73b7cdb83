"""Runyard can be installed beside the libraries that agents are written with."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def test_the_range_of_uuid_utils_admits_the_version_that_langgraph_installs() -> None:
    locked = (ROOT / "requirements" / "rivals.txt").read_text(encoding="utf-8")
    found = re.search(r"^uuid-utils==(\S+)", locked, re.MULTILINE)
    assert found is not None
    assert _ranges()["uuid-utils"].specifier.contains(found[1])


def _ranges() -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {wanted.name: wanted for wanted in map(Requirement, project["dependencies"])}
