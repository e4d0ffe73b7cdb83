"""Type checkers see through the public names: a misspelt argument is an error, and results keep their types."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
USES = HERE / "front_door_types.py"
CONFIGURATION = USES.with_suffix(".ini")
CACHE = ROOT / ".mypy_cache" / "front_door"
PATIENCE = 240  # without a cache, on a busy machine


def said_of(source: Path) -> dict[int, str]:
    """Return the findings of mypy by line: `error`, or the type that it reveals."""
    where = ["--config-file", str(CONFIGURATION), "--cache-dir", str(CACHE)]
    command = [sys.executable, "-m", "mypy", *where, "--strict", "--no-pretty", "--hide-error-context", str(source)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    found: dict[int, str] = {}
    for line in ran.stdout.splitlines():
        at = re.match(rf"{re.escape(str(source.relative_to(ROOT)))}:(\d+): (error|note): (.*)", line)
        if at is None:
            assert re.match(r"Found \d+ errors? in 1 file", line), ran.stdout + ran.stderr
        elif at[2] == "error":
            found[int(at[1])] = "error"
        elif at[3].startswith("Revealed type is "):
            found[int(at[1])] = "type: " + at[3].removeprefix("Revealed type is ").strip('"')
    return found


@pytest.mark.timeout(PATIENCE + 60)
def test_wrong_uses_are_type_errors_and_results_keep_their_types() -> None:
    said = said_of(USES)
    wanted = {
        number: comment[1]
        for number, line in enumerate(USES.read_text(encoding="utf-8").splitlines(), start=1)
        if (comment := re.search(r"  # (error|type: .*)$", line))
    }

    assert len(wanted) > 30
    assert said == wanted
